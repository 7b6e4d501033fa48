// Text output of one sequence after the other, of which an interrupted run leaves the complete ones, so that
// --resume can continue it; and the check that it continues with the same input.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/files/output.hpp"
#include "src/files/resumable_output.hpp"

namespace carbon {

/// The sequences that a run has read, in order.
struct SequencesDone {
  uint64_t count = 0, bases = 0;
  uint32_t checksum = 0;  // CRC-32 of names and bases
  uint64_t parts = 0;     // of the last of them that are written, where a sequence has parts; 0: all

  void add(std::string_view name, std::string_view bases_of_it);
};

/// What stands for them in the state beside an output, and what an earlier run has left there: none if it is
/// not continued, or `partial` is null. Throws Error.
nlohmann::json mark_of(const SequencesDone& done);
std::optional<SequencesDone> sequences_of(const ResumableOutput* partial);

/// What a run is, for the state beside its output.
struct SequenceRunInfo {
  PartialKind kind;  // "score" and "sequence"
  /// Asked for only if there is a file to continue: the digest of a large model takes long.
  std::function<RunIdentity()> identity;
  EarlierRun earlier = EarlierRun::refuse;
  /// The lines that begin the output, of which a continued one keeps those of its first run; null: none.
  std::function<std::vector<std::string>()> header = nullptr;
};

/// Throws Error if an earlier run is to be resumed, but the output is a stream, for which no partial file is
/// kept.
void check_continuable(const std::string& command, const std::string& output, EarlierRun earlier);

class SequenceOutput {
 public:
  /// Opens the output, as ResumableOutput if it is a file, and writes the header of the run unless it
  /// continues another. `threads` compress it if its name says so (BgzfOptions). Throws Error, as do the
  /// other functions.
  SequenceOutput(const std::string& path, const SequenceRunInfo& run, Log& log, int threads);

  /// The sequences that the file has from an earlier run; none without one.
  const std::optional<SequencesDone>& continued() const { return continued_; }
  void write(std::string_view text) {
    output_.write(text);
    written_ += text.size();
    unmarked_.reset();
  }
  /// Called when everything of the sequences `done`, and nothing else, is written: `units` of the run's kind.
  void end_sequence(const SequencesDone& done, uint64_t units);
  void end_sequence(const SequencesDone& done) { end_sequence(done, done.count); }
  /// Passes it on to a pipe or a terminal, as TextOutput::flush_for_reader() does.
  void flush_for_reader() { output_.flush_for_reader(); }
  /// Whether it is a file, which can be continued.
  bool to_file() const { return resumable_ != nullptr; }
  /// The file from which --resume continues; "" if there is nothing to continue.
  std::string saved_in() const { return resumable_ && resumable_->saved() ? resumable_->path() : ""; }
  /// Called before the process ends early: passes everything to a stream, and says in the state of a file
  /// what is complete in it.
  void flush_finished();
  /// Completes the output file. Without it, a named file is not left behind.
  void close();
  /// close() in two steps, as TextOutput has them.
  void finish() { output_.finish(); }
  void commit();

 private:
  struct Mark {
    SequencesDone done;
    uint64_t units = 0;
  };
  void save(const Mark& mark);

  std::unique_ptr<ResumableOutput> resumable_;  // null: a stream
  std::optional<SequencesDone> continued_;
  TextOutput output_;
  uint64_t written_ = 0;          // bytes since the last block was ended
  std::optional<Mark> unmarked_;  // the output is complete up to here, which its state does not say yet
};

/// Counts the sequences of the input, and tells those that an earlier run has written.
class SequencesRead {
 public:
  explicit SequencesRead(const std::optional<SequencesDone>& continued) : before_(continued) {}

  /// Counts a sequence. Returns false if the output has all of it already. Throws Error if the sequences of
  /// the earlier run were others.
  bool next(std::string_view name, std::string_view bases);
  /// How many parts of the last sequence the output has already.
  uint64_t parts_written() const { return before_ && done_.count == before_->count ? before_->parts : 0; }
  /// The sequences so far.
  const SequencesDone& done() const { return done_; }
  /// Called at the end of the input. Throws Error if the earlier run had read more.
  void finish() const;

 private:
  SequencesDone done_;
  std::optional<SequencesDone> before_;
};

}  // namespace carbon
