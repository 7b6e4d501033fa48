// The three output formats of `carbon score`.
//
// Receives every position of a sequence in ascending forward coordinates and decides what to print; sums are
// taken in that order, in double.
#pragma once

#include <cstdint>
#include <string>

#include "src/genome/output.hpp"
#include "src/pipeline/score.hpp"

namespace carbon {

/// A sequence or region as the output names it.
struct ScoredSequence {
  std::string name;
  int64_t begin = 0, end = 0;  // 0-based half-open, absolute
};

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
  ScoreWriter(const std::string& path, ScoreOutput type, ScoreStrand strand);
  void begin(const ScoredSequence& sequence);
  void value(const ScoredValue& value);
  void end();
  void close() { output_.close(); }

 private:
  TextOutput output_;
  ScoreOutput type_;
  const char* strand_;
  ScoredSequence sequence_;
  uint64_t scored_ = 0;
  double sum_ = 0;
  std::string line_;
};

}  // namespace carbon
