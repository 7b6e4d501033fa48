// The three output formats of `carbon score`.
//
// It receives the values of a sequence in ascending forward coordinates and decides what to print. Sums are
// taken in that order, in double.
#pragma once

#include <cstdint>
#include <string>

#include "src/genome/output.hpp"
#include "src/score/run.hpp"

namespace carbon {

/// One scored base or k-mer. `letters` (base level): natural logs in the order A, T, C, G of the forward
/// strand.
struct ScoredValue {
  int64_t begin = 0, end = 0;
  double logp = 0;
  char base = 'N';
  const double* letters = nullptr;
};

class ScoreWriter {
 public:
  /// Opens the output and writes the table's heading. Throws Error, as do the other functions.
  ScoreWriter(const std::string& path, ScoreOutput type, StrandChoice strand);
  /// For each sequence: begin(), its values, end().
  void begin(const SequencePlace& sequence);
  void value(const ScoredValue& value);
  void end();
  /// Completes the output file. Without it, a named file is not left behind.
  void close() { output_.close(); }

 private:
  TextOutput output_;
  ScoreOutput type_;
  const char* strand_;
  SequencePlace sequence_;
  uint64_t scored_ = 0;
  double sum_ = 0;
  std::string line_;
};

}  // namespace carbon
