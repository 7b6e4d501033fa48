// What of a FASTA file an index cannot express: sequences without a name or with the name of another, lines
// of different lengths, and lines that are too long.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace carbon {

struct FastaLayout {
  /// With `FILE:LINE`, why no index can be right; "" if nothing is in the way.
  std::string fault;
  /// The first line after a shorter line of its sequence, which htslib refuses; "" if there is none.
  std::string uneven;
  /// How many sequences have the name of an earlier one, and the first such name.
  uint64_t repeated = 0;
  std::string repeated_name;
  /// Each name once, in the order of the file.
  std::vector<std::string> names;
};

/// Reads the whole file, up to the first fault. Throws Error if it cannot be read.
FastaLayout read_fasta_layout(const std::string& path);

}  // namespace carbon
