// Where the scores of a sequence go: to a file (writer.hpp) or into memory (collector.hpp).
#pragma once

#include <cstdint>

#include "src/formats/sequence_inputs.hpp"

namespace carbon {

/// One scored base or 6-mer.
struct ScoredValue {
  int64_t begin = 0, end = 0;       // 0-based half-open, absolute, on the forward strand
  double logp = 0;                  // nats
  char base = 'N';                  // of the forward strand, in upper case; N for a 6-mer
  const double* letters = nullptr;  // natural logs of A, T, C, G of the forward strand; null for a 6-mer
};

/// Receives for each sequence begin(), its values in ascending forward coordinates, end(). Bases and 6-mers
/// that have no score are left out.
class ScoreSink {
 public:
  virtual ~ScoreSink() = default;
  virtual void begin(const SequencePlace& sequence) = 0;
  /// `value.letters` is valid during the call.
  virtual void value(const ScoredValue& value) = 0;
  virtual void end() = 0;
};

}  // namespace carbon
