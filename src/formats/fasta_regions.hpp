// Regions of a FASTA file: what a region as it is written (regions.hpp) selects there.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/formats/fasta.hpp"
#include "src/formats/regions.hpp"

namespace carbon {

struct Region {
  std::string contig;
  int64_t begin = 0, end = 0;  // 0-based half-open, clipped to the contig
};

/// Reads one region as samtools does. An end beyond the contig is clipped with a warning. Throws Error for an
/// unknown contig, whose other spelling the message names, and a region without bases.
Region parse_region(const std::string& text, const IndexedFasta& fasta);

/// The same for a list with commas.
std::vector<Region> parse_regions(const std::string& list, const IndexedFasta& fasta, RegionStyle style);

/// The same for a file. Lines without bases are left out with a warning.
std::vector<Region> read_regions(const std::string& path, const IndexedFasta& fasta,
                                 RegionStyle style = RegionStyle::samtools);

}  // namespace carbon
