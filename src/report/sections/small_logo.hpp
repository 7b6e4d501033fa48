// Small sequence logos, for the rows of a table of variants.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace carbon {

struct BasePlace {
  std::string contig;
  int64_t pos = 0;  // from 0
};

/// The probabilities of the letters around each place, `flank` bases on each side, from a table of score -O
/// tsv or scan: an SVG of 40 pixels' height with a mark under the base at the place, or "" where the table
/// has no values. Reads the table once, or by its index, and keeps what the places need. Throws Error for
/// another file.
std::vector<std::string> small_logos(const std::string& table, const std::vector<BasePlace>& places,
                                     size_t flank);

}  // namespace carbon
