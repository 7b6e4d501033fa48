// Region strings and files. FASTA commands follow samtools: `chr:100` is 100 to the end.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/genome/fasta.hpp"

namespace carbon {

struct Region {
  std::string contig;
  int64_t begin = 0, end = 0;  // 0-based half-open, clipped to the contig
};

/// `chr`, `chr:beg`, `chr:beg-end`, `chr:-end`, commas in numbers, {name:with:colons}:beg-end. An end past
/// the contig is clipped with a warning; an unknown contig or an empty range is an Error.
Region parse_region(const std::string& text, const IndexedFasta& fasta);

/// One region a line: BED (0-based) when named .bed or .bed.gz, else either a region string or tab-separated
/// CHROM BEG END or CHROM POS (1-based inclusive). '#', `track` and `browser` lines are skipped. Errors name
/// file:line.
std::vector<Region> read_regions(const std::string& path, const IndexedFasta& fasta);

}  // namespace carbon
