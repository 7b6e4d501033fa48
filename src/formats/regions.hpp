// Regions of a FASTA file, as strings or in files. They follow samtools: `chr:100` is from 100 to the end.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/formats/fasta.hpp"

namespace carbon {

struct Region {
  std::string contig;
  int64_t begin = 0, end = 0;  // 0-based half-open, clipped to the contig
};

/// A region before its coordinates are read: all but the name of the contig, without the colon between them.
struct NamedPart {
  std::string contig, coordinates;
};

/// Splits a region without braces at its last colon, unless all of it is the name of a contig of the FASTA,
/// or nothing before the colon is. Throws Error, in which the region is called `shown`, if both can be meant.
NamedPart split_region(const std::string& text, const IndexedFasta& fasta, const std::string& shown);

/// Reads `chr`, `chr:beg`, `chr:beg-end` or `chr:-end`. Numbers may have commas, and a name may be written
/// as {name}, which it must be if split_region() would throw. An end beyond the contig is clipped with a
/// warning. Throws Error for an unknown contig and an empty range.
Region parse_region(const std::string& text, const IndexedFasta& fasta);

/// Reads a file with one region per line. A file named .bed, .bed.gz or .bed.bgz is BED (0-based, half-open).
/// In other files a line is a region string, or CHROM BEG END or CHROM POS, separated by tabs (1-based,
/// inclusive). Lines that begin with '#', `track` or `browser` are skipped. Throws Error, which names file
/// and line.
std::vector<Region> read_regions(const std::string& path, const IndexedFasta& fasta);

}  // namespace carbon
