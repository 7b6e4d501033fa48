#include "src/generate/writer.hpp"

#include <algorithm>

#include "src/base/numbers.hpp"
#include "src/files/file_name.hpp"
#include "src/formats/provenance.hpp"

namespace carbon {

uint64_t samples_in(const SequencesDone& done, size_t per_prompt) {
  return done.parts == 0 ? done.count * per_prompt : (done.count - 1) * per_prompt + done.parts;
}

namespace {

// x.json for x.fa.gz; "" for a stream, which has no place beside it.
std::string record_path(const std::string& output) {
  if (replaced_file(output).empty()) return "";
  std::string path = stem_of_name(output) + ".json";
  check_provenance_file("generate", path);
  return path;
}

}  // namespace

GenerateWriter::GenerateWriter(const GenerateOptions& options, const SequenceRunInfo& run,
                               const std::function<std::vector<std::string>()>& provenance)
    : options_(options),
      record_path_(record_path(options.output)),
      output_(options.output, run, *options.log) {
  if (record_path_.empty()) return;
  record_.emplace(record_path_, TemporaryName::fixed);  // no other run has the lock of the output
  record_->write(provenance_json(provenance()));
}

void GenerateWriter::close() {
  if (!record_) return output_.close();
  record_->finish();
  output_.finish();
  // The sequences get their name last, so that complete ones always have the JSON beside them.
  record_->commit();
  output_.commit();
}

void GenerateWriter::write(const Prompt& prompt, uint32_t sample, std::string_view bases, double logp) {
  std::string text = ">" + prompt.name;
  const std::string number = std::to_string(sample + 1);
  if (options_.samples > 1) text += "/" + number;
  text += " sample=" + number + " seed=" + std::to_string(options_.sampler.seed) +
          " length=" + std::to_string(bases.size()) + " logp=" + general_text(logp, 10) + "\n";
  std::string sequence = options_.include_prompt ? prompt.sequence : "";
  sequence += bases;
  const size_t width = options_.line_length == 0 ? sequence.size() : options_.line_length;
  for (size_t at = 0; at < sequence.size(); at += width) text.append(sequence, at, width).append("\n");
  output_.write(text);
  SequencesDone done = prompt.done;
  if (sample + 1 < options_.samples) done.parts = sample + 1;
  output_.end_sequence(done, samples_in(done, options_.samples));
}

void GenerateProgress::drawn(size_t kmers, const std::string& name) {
  const std::lock_guard lock(mutex_);
  if (finished_) return;
  kmers_ += kmers;
  progress_.update(bases_ + k_ * kmers_, name);
}

void GenerateProgress::written(size_t kmers, size_t bases, const std::string& name) {
  const std::lock_guard lock(mutex_);
  kmers_ -= std::min<uint64_t>(kmers_, kmers);
  bases_ += bases;
  progress_.update(bases_ + k_ * kmers_, name);
}

void GenerateProgress::finish() {
  const std::lock_guard lock(mutex_);
  finished_ = true;
  progress_.finish();
}

}  // namespace carbon
