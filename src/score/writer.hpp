// The three output formats of `carbon score`.
//
// It receives the values of a sequence in ascending forward coordinates and decides what to print. Sums are
// taken in that order, in double.
#pragma once

#include <cstdint>
#include <string>

#include "src/files/sequence_output.hpp"
#include "src/score/options.hpp"
#include "src/score/sink.hpp"

namespace carbon {

class ScoreWriter final : public ScoreSink {
 public:
  /// Opens the output and writes the table's heading, unless the run continues another. Throws Error, as do
  /// the other functions.
  ScoreWriter(const ScoreOptions& options, const SequenceRunInfo& run);
  void begin(const SequencePlace& sequence) override;
  void value(const ScoredValue& value) override;
  void end() override;
  /// Called after end(), when the sequences `done` are complete.
  void end_sequence(const SequencesDone& done) { output_.end_sequence(done); }
  const std::optional<SequencesDone>& continued() const { return output_.continued(); }
  /// Passes it on to a pipe or a terminal, as TextOutput::flush_for_reader() does.
  void flush_for_reader() { output_.flush_for_reader(); }
  bool to_file() const { return output_.to_file(); }
  std::string saved_in() const { return output_.saved_in(); }
  void flush_finished() { output_.flush_finished(); }
  /// Completes the output file. Without it, a named file is not left behind.
  void close() { output_.close(); }

 private:
  SequenceOutput output_;
  ScoreOutput type_;
  const char* strand_;
  SequencePlace sequence_;
  uint64_t scored_ = 0;
  double sum_ = 0;
  std::string line_;
};

}  // namespace carbon
