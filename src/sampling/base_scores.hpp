// What a distribution over 6-mers says of single bases, the one place where a base gets its probability:
// rows of marginals come in, and log-probabilities of bases go out.
//
// A row is the natural logs [k, 4], with the letters in the order A, T, C, G, of the distributions of the k
// bases of the next token. Row i of a window is for its bases [k i, k i + k), so that rows that follow one
// another have four logs for each base, whatever k is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "kernels/ops.hpp"
#include "src/base/error.hpp"
#include "src/base/words.hpp"
#include "tokenizer/kmer.hpp"

namespace carbon {

/// The level of a score: single bases, or whole 6-mers as the model predicts them.
enum class ScoreLevel { base, token };
inline constexpr Word<ScoreLevel> kScoreLevelWords[] = {{"bp", ScoreLevel::base},
                                                        {"token", ScoreLevel::token}};

/// Throws SettingError of `function` if a model with tokens of so many bases does not have the level.
inline void check_level(const char* function, ScoreLevel level, size_t bases) {
  if (level == ScoreLevel::token && bases == 1)
    throw SettingError(
        function, "level",
        "level token cannot be used with a model of one base a token, whose tokens are the bases; "
        "expected bp");
}

/// The true bases of a 6-mer in the form that the conditionals take them: the first up to six letters of
/// `bases`. Letters that are not A, C, G or T, in either case, and those that are missing at the end are not
/// known.
inline ops::KnownBases known_bases(std::string_view bases) {
  ops::KnownBases known = ops::kNoneKnown;
  for (size_t j = 0; j < bases.substr(0, ops::kBases).size(); ++j)
    if (const int digit = base_digit(bases[j]); digit >= 0)
      known = ops::with_letter(known, j, static_cast<uint32_t>(digit));
  return known;
}

/// The natural logs of the probabilities of A, T, C and G at one base: `base` counts from the first base that
/// rows[0] speaks of. This is the one place where a base gets its probability.
inline const double* base_logs(std::span<const double> rows, size_t base) {
  return rows.data() + base * ops::kLetters;
}

/// Appends to `out` the log-probability of every A, C, G or T of sequence[first, end), in order. Other
/// letters are skipped. rows[0] is for the token that begins at base `first`, and there is one row for each
/// token from there to `end`; the last token may be partial.
void append_base_logprobs(std::string_view sequence, size_t first, size_t end, std::span<const double> rows,
                          std::vector<double>& out);

/// The log-likelihood ratio in nats: the sum of alt[i] - ref[i] over the first n values, where n is the
/// smaller of the two counts. Equal terms add an exact zero, so the result does not change by a bit if a
/// common beginning is left out.
double log_likelihood_ratio(std::span<const double> alt, std::span<const double> ref);

/// -sum p ln p in nats of the four probabilities with these logs. The second form takes them as exp() gives
/// them, for a caller that has them already.
double entropy(const double* logs);
double entropy(const double* logs, const double* probabilities);

/// Subtracts ln sum exp of the four values, which makes them logs of probabilities that add up to 1.
void normalise_logs(double* logs);

}  // namespace carbon
