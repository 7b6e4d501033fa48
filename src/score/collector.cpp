#include "src/score/collector.hpp"

#include <limits>

#include "tokenizer/kmer.hpp"

namespace carbon {

ScoreCollector::ScoreCollector(ScoreLevel level) : width_(level == ScoreLevel::token ? kKmerLength : 1) {}

void ScoreCollector::begin(const SequencePlace& sequence) {
  begin_ = sequence.begin;
  scores_ = {};
  scores_.values.assign(static_cast<size_t>((sequence.end - sequence.begin) / width_),
                        std::numeric_limits<double>::quiet_NaN());
}

void ScoreCollector::value(const ScoredValue& value) {
  // 6-mers of the reverse strand begin up to five bases after multiples of 6, which the division drops.
  scores_.values[static_cast<size_t>((value.begin - begin_) / width_)] = value.logp;
  scores_.sum += value.logp;
  ++scores_.scored;
}

}  // namespace carbon
