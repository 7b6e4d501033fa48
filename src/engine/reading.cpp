#include "src/engine/reading.hpp"

#include <algorithm>

namespace carbon {
namespace {

// A difference of a value and itself is 0, unless the value is infinite or NaN. Written so that the compiler
// uses vectors: a GPU waits while this runs.
template <class T>
bool all_finite(std::span<const T> values) {
  T sum = 0;
#pragma omp simd reduction(+ : sum)
  for (size_t i = 0; i < values.size(); ++i) sum += values[i] - values[i];
  return sum == 0;
}

}  // namespace

void Reading::keep_values(size_t row, size_t width, std::span<const double> more) {
  values->resize(row * width);
  values->insert(values->end(), more.begin(), more.end());
  finite = finite && all_finite(more);
}

void Reading::keep_states(size_t row, size_t width, std::span<const float> more) {
  finite = finite && all_finite(more);
  states.resize(row * width);
  states.insert(states.end(), more.begin(), more.end());
}

std::vector<uint32_t> Reading::counts(size_t end) const {
  std::vector<uint32_t> counts;
  for (const uint32_t target : targets)
    if (target > summed && target < end) counts.push_back(target - static_cast<uint32_t>(summed));
  if (end > summed) counts.push_back(static_cast<uint32_t>(end - summed));
  return counts;
}

// What is not finite stays so in every later sum.
void Reading::keep_sums(std::span<const uint32_t> counts, std::span<const double> more) {
  const size_t before = summed, width = more.size() / counts.size();
  for (size_t i = 0; i < counts.size(); ++i) {
    const std::span<const double> sum = more.subspan(i * width, width);
    sums.assign(sum.begin(), sum.end());
    summed = before + counts[i];
    if (std::ranges::find(targets, summed) != targets.end()) add_mean();
  }
  finite = finite && all_finite(std::span<const double>(sums));
}

void Reading::add_mean() {
  for (const double sum : sums) states.push_back(static_cast<float>(sum / static_cast<double>(summed)));
}

void Reading::end() {
  if (summed > 0) add_mean();
}

void Reading::clear() {
  values->clear();
  states.clear();
  sums.clear();
  summed = 0;
}

}  // namespace carbon
