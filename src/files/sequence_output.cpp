#include "src/files/sequence_output.hpp"

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "src/base/error.hpp"
#include "src/base/files.hpp"
#include "src/base/long_run.hpp"
#include "src/base/words.hpp"

namespace carbon {
namespace {

// Where blocks of compressed output end must not depend on when a run was interrupted.
constexpr uint64_t kBlockBytes = 1 << 16;

std::unique_ptr<ResumableOutput> open_resumable(const std::string& path, const SequenceRunInfo& run,
                                                Log& log) {
  const std::string target = replaced_file(path);
  if (target.empty()) return nullptr;
  return std::make_unique<ResumableOutput>(target, run.kind, run.identity(), run.earlier, log);
}

}  // namespace

std::optional<SequencesDone> sequences_of(const ResumableOutput* partial) {
  if (partial == nullptr || !partial->continued()) return std::nullopt;
  SequencesDone done;
  try {
    const nlohmann::json mark = nlohmann::json::parse(partial->mark());
    uint64_t checksum = 0;
    read_whole(mark.at("sequences"), done.count);
    read_whole(mark.at("bases"), done.bases);
    read_whole(mark.at("checksum"), checksum);
    done.checksum = static_cast<uint32_t>(checksum);
    if (mark.contains("parts")) read_whole(mark.at("parts"), done.parts);
  } catch (const nlohmann::json::exception&) {
    partial->fail_mark();
  } catch (const std::range_error&) {
    partial->fail_mark();
  }
  return done;
}

nlohmann::json mark_of(const SequencesDone& done) {
  nlohmann::json json = {{"sequences", done.count}, {"bases", done.bases}, {"checksum", done.checksum}};
  if (done.parts > 0) json["parts"] = done.parts;
  return json;
}

void SequencesDone::add(std::string_view name, std::string_view bases_of_it) {
  ++count;
  bases += bases_of_it.size();
  // Lines, so that a base cannot move from one sequence to the next without a difference.
  for (const std::string_view part : {name, std::string_view("\n"), bases_of_it, std::string_view("\n")})
    checksum = crc32_of(part, checksum);
}

void check_continuable(const std::string& command, const std::string& output, EarlierRun earlier) {
  if (earlier == EarlierRun::resume && replaced_file(output).empty())
    throw Error(command,
                "a run whose output is " + (output == "-" ? "standard output" : output) +
                    " cannot be resumed: no partial file is kept for it",
                {"{--resume} needs a regular file: name one with {-o}"});
}

SequenceOutput::SequenceOutput(const std::string& path, const SequenceRunInfo& run, Log& log, int threads)
    : resumable_(open_resumable(path, run, log)),
      continued_(sequences_of(resumable_.get())),
      output_(path, resumable_ ? TemporaryName::kept : TemporaryName::unique, {-1, threads}) {
  if (continued_ || !run.header) return;
  for (const std::string& line : run.header()) write(line + "\n");
}

void SequenceOutput::end_sequence(const SequencesDone& done, uint64_t units) {
  if (output_.compressed() && written_ < kBlockBytes) return;
  written_ = 0;
  if (resumable_ && resumable_->wants_mark()) return save({done, units});
  if (output_.compressed()) output_.end_block();
  if (resumable_) unmarked_ = {done, units};
}

void SequenceOutput::save(const Mark& mark) {
  output_.flush();
  resumable_->save(mark.units, mark_of(mark.done));
  unmarked_.reset();
}

void SequenceOutput::flush_finished() {
  if (!resumable_) return output_.flush();
  if (unmarked_) save(*unmarked_);
}

void SequenceOutput::close() {
  finish();
  commit();
}

void SequenceOutput::commit() {
  output_.commit();
  if (resumable_) resumable_->finish();
}

bool SequencesRead::next(std::string_view name, std::string_view bases) {
  done_.add(name, bases);
  if (!before_ || done_.count > before_->count) return true;
  if (done_.count == before_->count && (done_.bases != before_->bases || done_.checksum != before_->checksum))
    throw OtherInput((done_.count == 1 ? "the first sequence of the input is not the one"
                                       : "the first " + std::to_string(done_.count) +
                                             " sequences of the input are not those") +
                     std::string(" that the interrupted run had read; give the same input"));
  return parts_written() > 0;
}

void SequencesRead::finish() const {
  if (before_ && done_.count < before_->count)
    throw OtherInput("the input has " + count_of(done_.count, "sequence") +
                     ", and the interrupted run had read " + std::to_string(before_->count) +
                     "; give the same input");
}

}  // namespace carbon
