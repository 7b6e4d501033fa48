#include "src/scan/assembler.hpp"

#include <algorithm>
#include <cmath>

#include "src/base/error.hpp"
#include "src/sampling/base_scores.hpp"

namespace carbon {

void ScanAssembler::consume(const ScanItem& item) {
  if (piece_ != item.piece) {
    piece_ = item.piece;
    next_ = piece_->begin;
  }
  keep_values(item);
  emit_ready();
}

// `position` is one of the track's strand.
bool ScanAssembler::has_value(const ScanTrack& track, int64_t position) const {
  return position >= track.frame && (level_ != ScanLevel::first || (position - track.frame) % bases_ == 0);
}

void ScanAssembler::keep_values(const ScanItem& item) {
  const ScanTrack& track = tracks_[item.span.track];
  std::deque<Value>& values = values_[item.span.track];
  const std::span<const double> rows =
      item.requests.empty() ? std::span<const double>() : item.requests.front()->values();
  const auto n = static_cast<int64_t>(item.letters.size());
  for (int64_t i = 0; i < n; ++i) {
    const int64_t offset = track.reverse ? n - 1 - i : i, position = item.span.begin + offset;
    if (!has_value(track, position)) continue;
    Value& value = values.emplace_back();
    const int digit = base_digit(item.letters[static_cast<size_t>(offset)]);
    if (digit < 0) continue;
    value.digit = track.reverse ? complement_digit(digit) : digit;
    const double* logs = base_logs(rows, static_cast<size_t>(position - item.first_row_begin));
    for (int b = 0; b < static_cast<int>(ops::kLetters); ++b)
      value.logp[static_cast<size_t>(track.reverse ? complement_digit(b) : b)] = logs[b];
  }
}

void ScanAssembler::emit_ready() {
  for (; next_ < piece_->end; ++next_) {
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
