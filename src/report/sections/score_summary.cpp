#include "src/report/sections/score_summary.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "src/base/error.hpp"

namespace carbon {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr uint32_t kSign = 0x80000000;

// Bits that sort as the values do.
uint32_t sorted_bits(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  return bits & kSign ? ~bits : bits | kSign;
}

float value_of(uint32_t bits) {
  return std::bit_cast<float>(bits & kSign ? bits & ~kSign : ~bits);
}

uint16_t upper_half(uint32_t bits) {
  return static_cast<uint16_t>(bits >> 16);
}

struct Between {
  uint64_t low, high;  // places
  double part;         // of the way from one to the other
};

Between places_of(uint64_t count, double share) {
  const double place = static_cast<double>(count - 1) * share;
  const auto low = static_cast<uint64_t>(place);
  return {low, std::min(low + 1, count - 1), place - static_cast<double>(low)};
}

}  // namespace

void ShortCounts::add(uint16_t number, uint64_t count) {
  std::unique_ptr<Page>& page = pages_[number >> 8];
  if (!page) page = std::make_unique<Page>(Page{});
  (*page)[number & 255] += count;
}

void ShortCounts::add(const ShortCounts& other) {
  for (uint32_t number = 0; number < 65536; ++number)
    if (!other.pages_[number >> 8])
      number |= 255;
    else if (const uint64_t count = other.count(static_cast<uint16_t>(number)); count > 0)
      add(static_cast<uint16_t>(number), count);
}

uint64_t ShortCounts::count(uint16_t number) const {
  const std::unique_ptr<Page>& page = pages_[number >> 8];
  return page ? (*page)[number & 255] : 0;
}

bool ShortCounts::at(uint64_t& place, uint16_t& number) const {
  for (size_t p = 0; p < pages_.size(); ++p) {
    if (!pages_[p]) continue;
    for (size_t i = 0; i < pages_[p]->size(); ++i) {
      const uint64_t count = (*pages_[p])[i];
      if (place < count) {
        number = static_cast<uint16_t>(p << 8 | i);
        return true;
      }
      place -= count;
    }
  }
  return false;
}

void ScoreSummary::add(float value) {
  least_ = count_ == 0 ? value : std::min(least_, value);
  most_ = count_ == 0 ? value : std::max(most_, value);
  ++count_;
  // Neumaier's sum.
  const double term = value, sum = sum_ + term;
  lost_ += std::abs(sum_) >= std::abs(term) ? (sum_ - sum) + term : (term - sum) + sum_;
  sum_ = sum;
  upper_.add(upper_half(sorted_bits(value)));
}

void ScoreSummary::add(const ScoreSummary& other) {
  if (other.count_ == 0) return;
  least_ = count_ == 0 ? other.least_ : std::min(least_, other.least_);
  most_ = count_ == 0 ? other.most_ : std::max(most_, other.most_);
  count_ += other.count_;
  sum_ += other.sum_;
  lost_ += other.lost_;
  upper_.add(other.upper_);
}

void ScoreSummary::end_first() {
  for (int q = 1; q <= 3 && count_ > 0; ++q) {
    const Between places = places_of(count_, q / 4.0);
    for (uint64_t place : {places.low, places.high}) {
      uint16_t upper = 0;
      upper_.at(place, upper);
      const bool known =
          std::any_of(parts_.begin(), parts_.end(), [&](const Part& p) { return p.upper == upper; });
      if (!known) parts_.push_back({upper, {}});
    }
  }
}

void ScoreSummary::add_again(float value) {
  const uint32_t bits = sorted_bits(value);
  for (Part& part : parts_)
    if (part.upper == upper_half(bits)) part.lower.add(static_cast<uint16_t>(bits & 0xFFFF));
}

double ScoreSummary::mean() const {
  return count_ == 0 ? kNone : (sum_ + lost_) / static_cast<double>(count_);
}

double ScoreSummary::least() const {
  return count_ == 0 ? kNone : static_cast<double>(least_);
}

double ScoreSummary::most() const {
  return count_ == 0 ? kNone : static_cast<double>(most_);
}

double ScoreSummary::value_at(uint64_t place) const {
  uint16_t upper = 0, lower = 0;
  if (upper_.at(place, upper))
    for (const Part& part : parts_)
      if (part.upper == upper && part.lower.at(place, lower))
        return static_cast<double>(value_of(static_cast<uint32_t>(upper) << 16 | lower));
  throw Error("report", "a file changed while it was read; run the report again when it is complete");
}

double ScoreSummary::quartile(int number) const {
  if (count_ == 0) return kNone;
  const Between places = places_of(count_, number / 4.0);
  const double low = value_at(places.low), high = value_at(places.high);
  return low + (high - low) * places.part;
}

double ScoreSummary::rough_quantile(double share) const {
  if (count_ == 0) return kNone;
  const Between places = places_of(count_, share);
  uint64_t place = share < 0.5 ? places.low : places.high;
  uint16_t upper = 0;
  upper_.at(place, upper);
  const auto value = static_cast<double>(value_of(static_cast<uint32_t>(upper) << 16));
  return std::clamp(value, least(), most());
}

}  // namespace carbon
