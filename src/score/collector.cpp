#include "src/score/collector.hpp"

#include <limits>

namespace carbon {

ScoreCollector::ScoreCollector(ScoreLevel level, size_t bases)
    : width_(level == ScoreLevel::token ? static_cast<int64_t>(bases) : 1) {}

void ScoreCollector::begin(const SequencePlace& sequence) {
  begin_ = sequence.begin;
  scores_ = {};
  scores_.values.assign(static_cast<size_t>((sequence.end - sequence.begin) / width_),
                        std::numeric_limits<double>::quiet_NaN());
}

void ScoreCollector::value(const ScoredValue& value) {
  // k-mers of the reverse strand begin up to k - 1 bases after multiples of k, which the division drops.
  scores_.values[static_cast<size_t>((value.begin - begin_) / width_)] = value.logp;
  scores_.sum += value.logp;
  ++scores_.scored;
}

}  // namespace carbon
