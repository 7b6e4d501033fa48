// What a machine may do when it adds products of bf16 numbers to an f32 sum, written in plain C++, so that
// the bits of a GPU can be compared with each of these ways (bits.hpp).
//
// Tensor cores add several products and the sum before at once: all are shifted to the largest exponent among
// them, what is then below some bit is cut off, and the sum is rounded once. A longer product is a chain of
// such additions.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

namespace carbon::gpu_bench {

struct ChainModel {
  int terms;     // products that are added at once
  int fraction;  // bits that are kept behind the point of the largest number; 0: summed in double
  bool nearest;  // the sum is rounded to nearest even, else it is cut off
  std::string name() const {
    return std::to_string(terms) + (terms == 1 ? " term, " : " terms, ") +
           (fraction == 0 ? "in double" : std::to_string(fraction) + " bits") +
           (nearest ? ", to nearest" : ", cut off");
  }
};

/// The ways that are known of tensor cores and of plain arithmetic, and others in between.
inline std::vector<ChainModel> chain_models() {
  std::vector<ChainModel> models;
  for (const int terms : {16, 8, 4, 1})
    for (const int fraction : {25, 24, 23, 26, 27, 0})
      for (const bool nearest : {false, true}) models.push_back({terms, fraction, nearest});
  return models;
}

/// To f32, without a double rounding: in C++ only the way to nearest is a conversion.
inline float round_chain(double sum, bool nearest) {
  const auto rounded = static_cast<float>(sum);
  if (nearest || std::isinf(rounded) || std::fabs(static_cast<double>(rounded)) <= std::fabs(sum))
    return rounded;
  return std::nextafter(rounded, 0.0f);
}

/// The exponent of a factor or a sum. Numbers that are too small for an exponent of their own have the least.
inline int exponent_of(float x) {
  constexpr int kLeast = std::numeric_limits<float>::min_exponent - 1;
  return x == 0 ? kLeast : std::max(kLeast, std::ilogb(x));
}

/// sum + a[0] b[0] + ... + a[k - 1] b[k - 1], where all numbers are finite and k is a multiple of the terms.
inline float run_chain(const ChainModel& model, float sum, const float* a, const float* b, size_t k) {
  const auto product = [&](size_t i) { return static_cast<double>(a[i]) * static_cast<double>(b[i]); };
  const auto terms = static_cast<size_t>(model.terms);
  for (size_t first = 0; first < k; first += terms) {
    double total = 0;
    if (model.fraction == 0) {
      total = static_cast<double>(sum);
      for (size_t i = first; i < first + terms; ++i) total += product(i);
    } else {
      int largest = exponent_of(sum);
      for (size_t i = first; i < first + terms; ++i)
        largest = std::max(largest, exponent_of(a[i]) + exponent_of(b[i]));
      const int last = largest - model.fraction;  // the exponent of the last bit that is kept
      total = std::trunc(std::ldexp(static_cast<double>(sum), -last));
      for (size_t i = first; i < first + terms; ++i) total += std::trunc(std::ldexp(product(i), -last));
      total = std::ldexp(total, last);
    }
    sum = round_chain(total, model.nearest);
  }
  return sum;
}

}  // namespace carbon::gpu_bench
