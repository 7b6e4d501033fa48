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
  if (head == HeadKind::mean_hidden) return keep_sums(row, width, more);
  states.resize(row * width);
  states.insert(states.end(), more.begin(), more.end());
}

// Each sum is over the rows in their order, so it does not depend on how they were divided among passes.
void Reading::keep_sums(size_t row, size_t width, std::span<const float> more) {
  sums.resize(width);
  for (size_t at = (summed - row) * width; at < more.size(); at += width) {
    for (size_t i = 0; i < width; ++i) sums[i] += double{more[at + i]};
    ++summed;
    for (const uint32_t target : targets)
      if (target == summed) add_mean();
  }
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
