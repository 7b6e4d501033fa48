#include "src/scan/assembler.hpp"

#include <algorithm>
#include <cmath>

#include "src/base/error.hpp"
#include "src/sampling/base_scores.hpp"

namespace carbon {

uint64_t ScanAssembler::consume(const ScanItem& item) {
  if (piece_ != item.piece) {
    piece_ = item.piece;
    next_ = piece_->begin;
  }
  const uint64_t bases = keep_values(item);
  emit_ready();
  return bases;
}

// `position` is one of the track's strand.
bool ScanAssembler::has_value(const ScanTrack& track, int64_t position) const {
  return position >= track.frame && (level_ != ScanLevel::first || (position - track.frame) % bases_ == 0);
}

uint64_t ScanAssembler::keep_values(const ScanItem& item) {
  const ScanTrack& track = tracks_[item.span.track];
  std::deque<Value>& values = values_[item.span.track];
  const std::span<const double> rows =
      item.requests.empty() ? std::span<const double>() : item.requests.front()->values();
  // On the contig.
  const int64_t begin = track.reverse ? piece_->length - item.span.end : item.span.begin,
                end = begin + static_cast<int64_t>(item.letters.size());
  uint64_t bases = 0;
  for (int64_t at = begin; at < end; at = piece_->next(at + 1)) {
    ++bases;
    const int64_t position = track.reverse ? piece_->length - 1 - at : at,
                  offset = position - item.span.begin;
    if (!has_value(track, position)) continue;
    Value& value = values.emplace_back();
    const int digit = base_digit(item.letters[static_cast<size_t>(offset)]);
    if (digit < 0) continue;
    value.digit = track.reverse ? complement_digit(digit) : digit;
    const double* logs = base_logs(rows, static_cast<size_t>(position - item.first_row_begin));
    for (int b = 0; b < static_cast<int>(ops::kLetters); ++b)
      value.logp[static_cast<size_t>(track.reverse ? complement_digit(b) : b)] = logs[b];
  }
  return bases;
}

void ScanAssembler::emit_ready() {
  for (; next_ < piece_->end; next_ = piece_->next(next_ + 1)) {
    for (size_t t = 0; t < tracks_.size(); ++t) {
      const int64_t position = tracks_[t].reverse ? piece_->length - 1 - next_ : next_;
      if (values_[t].empty() && has_value(tracks_[t], position)) return;
    }
    emit(next_);
  }
}

// Adds the mean over the strand's frames to `sum`. Returns false if the strand is not read, or has no value
// here.
bool ScanAssembler::add_strand(bool reverse, int64_t position, Value& sum) {
  Letters strand{};
  int count = 0;
  for (size_t t = 0; t < tracks_.size(); ++t) {
    if (tracks_[t].reverse != reverse || !has_value(tracks_[t], position)) continue;
    const Value& value = values_[t].front();
    for (size_t b = 0; b < ops::kLetters; ++b) strand[b] += value.logp[b];
    sum.digit = value.digit;
    ++count;
    values_[t].pop_front();
  }
  for (size_t b = 0; b < ops::kLetters && count > 0; ++b) sum.logp[b] += strand[b] / count;
  return count > 0;
}

void ScanAssembler::emit(int64_t position) {
  Value sum;
  const int strands = (add_strand(false, position, sum) ? 1 : 0) +
                      (add_strand(true, piece_->length - 1 - position, sum) ? 1 : 0);
  if (sum.digit < 0) return;
  ScannedBase base{&*piece_, position, sum.digit, sum.logp};
  for (double& logp : base.logp) logp /= strands;
  if (!std::all_of(base.logp.begin(), base.logp.end(), [](double logp) { return std::isfinite(logp); }))
    throw not_finite("scan", "score at " + piece_->contig + ":" + std::to_string(position + 1));
  take_(base);
}

}  // namespace carbon
