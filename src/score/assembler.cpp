#include "src/score/assembler.hpp"

#include <cmath>

#include "src/base/error.hpp"
#include "src/sampling/base_scores.hpp"

namespace carbon {

void ScoreAssembler::consume(const ScoredWindow& item) {
  if (item.first) {
    sequence_ = item.sequence;
    emitted_ = item.reverse ? 0 : item.window.take;  // above 0 where only an end is scored
    sink_.begin(sequence_->place);
  }
  if (!item.requests.empty()) {
    if (level_ == ScoreLevel::token)
      emit_tokens(item);
    else
      take_bases(item);
  }
  if (item.last) sink_.end();
}

void ScoreAssembler::check_finite(double logp, int64_t position) const {
  if (!std::isfinite(logp))
    throw not_finite("score", "score at " + sequence_->place.name + ":" + std::to_string(position + 1));
}

void ScoreAssembler::emit_tokens(const ScoredWindow& item) {
  const std::span<const double> values = item.requests.front()->values();
  const std::string& bases = sequence_->strand(item.reverse);
  for (size_t i = 0; i < values.size(); ++i) {
    const size_t row = item.reverse ? values.size() - 1 - i : i;
    const size_t at = item.window.take + row * bases_;
    if (kmer_index(std::string_view(bases).substr(at, bases_), bases_) < 0) continue;
    const size_t begin = item.reverse ? sequence_->length() - at - bases_ : at;
    const int64_t absolute = sequence_->place.begin + static_cast<int64_t>(begin);
    check_finite(values[row], absolute);
    sink_.value({absolute, absolute + static_cast<int64_t>(bases_), values[row], 'N', nullptr});
  }
}

void ScoreAssembler::take_bases(const ScoredWindow& item) {
  const std::span<const double> values = item.requests.front()->values();
  std::deque<Letters>& track = tracks_[item.reverse ? 1 : 0];
  const size_t n = item.window.end - item.window.take;
  for (size_t i = 0; i < n; ++i) {
    const double* logs = base_logs(values, item.reverse ? n - 1 - i : i);
    Letters letters;
    for (int b = 0; b < static_cast<int>(ops::kLetters); ++b)
      letters[static_cast<size_t>(item.reverse ? complement_digit(b) : b)] = logs[b];
    if (strand_ == StrandChoice::both)
      track.push_back(letters);
    else
      emit_base(letters, nullptr);
  }
  while (!tracks_[0].empty() && !tracks_[1].empty()) {
    emit_base(tracks_[0].front(), &tracks_[1].front());
    for (std::deque<Letters>& each : tracks_) each.pop_front();
  }
}

// Hands on the next base. `letters` are of one strand; `other` is the second strand, or null. Two
// strands give the mean.
void ScoreAssembler::emit_base(Letters letters, const Letters* other) {
  const size_t at = emitted_++;
  const char base = sequence_->forward[at];
  const int digit = base_digit(base);
  if (digit < 0) return;
  const int64_t position = sequence_->place.begin + static_cast<int64_t>(at);
  double logp = letters[digit];
  if (other) {
    logp = (logp + (*other)[digit]) / 2;
    for (size_t b = 0; b < ops::kLetters; ++b) letters[b] = (letters[b] + (*other)[b]) / 2;
    normalise_logs(letters.data());
  }
  check_finite(logp, position);
  sink_.value({position, position + 1, logp, base, letters.data()});
}

}  // namespace carbon
