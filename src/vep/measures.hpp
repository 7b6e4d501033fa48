// What else the rows of two windows say of a variant, besides the likelihood of its bases: how far the states
// and the predicted distributions after it lie apart (docs/conventions.md, "Measures"). Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "src/base/words.hpp"

namespace carbon {

/// What recipe centered writes of each allele.
enum class Measure {
  llr,  // log-likelihood ratio of the windows
  l2,   // Euclidean distance of the states after the final norm
  jsd   // Jensen-Shannon divergence of the distributions of the bases, in nats
};
inline constexpr Word<Measure> kMeasureWords[] = {
    {"llr", Measure::llr}, {"l2", Measure::l2}, {"jsd", Measure::jsd}};

/// The bases after an allele, by default, whose rows are compared: those of CARBON_L2, CARBON_JSD and
/// CARBON_ALLR.
inline constexpr int64_t kDefaultHorizon = 768;

/// The first whole token of k bases, from token `from` on, that the model reads differently in two windows of
/// equal length; none if there is no such token. All tokens with a letter other than A, C, G and T are alike.
std::optional<size_t> first_other_token(std::string_view a, std::string_view b, size_t k, size_t from);

/// The square root of the sum of the squared differences of two matrices [rows, width] of the same size. The
/// differences are floats, squares and sums doubles. The order of the sum depends on the width alone.
double state_distance(std::span<const float> a, std::span<const float> b, size_t width);

/// The sum of the divergences of two lists of distributions, [bases, 4] natural logs of probabilities, over
/// the bases whose letter in `bases` is A, C, G or T.
double divergence(std::span<const double> p, std::span<const double> q, std::string_view bases);

/// The mean of the rows of a matrix [rows, width], summed in double from the first row on.
std::vector<float> mean_state(std::span<const float> states, size_t width);

}  // namespace carbon
