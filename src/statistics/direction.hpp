// The direction of a score, high or low, that speaks for a label.
#pragma once

#include <string>

namespace carbon {

/// What to say of a score with an AUROC below 0.5, which is that of a score turned round. `low`: low scores
/// were taken for those of positive alleles; `by_header`: because the header says so.
inline std::string reversed_words(const std::string& score, const std::string& auroc, bool low,
                                  bool by_header) {
  const std::string found = "the AUROC of " + score + " is " + auroc +
                            ", below 0.5: alleles that the label calls positive have " +
                            (low ? "higher" : "lower") + " scores than the others";
  if (by_header)
    return found + ", and by the header " + (low ? "low" : "high") +
           " scores are those of damaging alleles; does the label name the other class?";
  return found + "; do " + (low ? "high" : "low") + " scores speak for the label?";
}

}  // namespace carbon
