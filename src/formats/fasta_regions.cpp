#include "src/formats/fasta_regions.hpp"

#include <algorithm>

#include "src/base/counts.hpp"
#include "src/base/error.hpp"
#include "src/base/json.hpp"
#include "src/formats/contig_spelling.hpp"

namespace carbon {
namespace {

constexpr const char* kFunction = "read_regions";

KnownContig contigs_of(const IndexedFasta& fasta) {
  return [&fasta](const std::string& name) { return fasta.length(name) >= 0; };
}

/// Clips a region to its contig. `shown` is the text to name in messages.
Region place(const WrittenRegion& region, const IndexedFasta& fasta, const std::string& shown) {
  const int64_t length = fasta.length(region.contig);
  if (length < 0)
    throw Error(kFunction, shown + ": no sequence " + printable(region.contig) + " in " + fasta.path() +
                               called_otherwise(region.contig, fasta.names()) +
                               "; the first column of its .fai lists the names");
  if (region.end > length && region.end != kOpenEnd && region.begin < length)
    fasta.log().warning(kFunction, shown + ": the end lies beyond the end of " + region.contig + " (" +
                                       count_of(static_cast<uint64_t>(length), "base") +
                                       "), which is used instead");
  const int64_t end = std::min(region.end, length);
  if (region.begin < 0 || region.begin >= end)
    throw Error(kFunction, shown + ": there are no bases in this range of " + region.contig +
                               ", which has only " + count_of(static_cast<uint64_t>(length), "base") +
                               "; positions count from 1, and BEG must not exceed END");
  return {region.contig, region.begin, end};
}

}  // namespace

Region parse_region(const std::string& text, const IndexedFasta& fasta) {
  return place(parse_written_region(text, RegionStyle::samtools, contigs_of(fasta)), fasta,
               "region '" + printable(text) + "'");
}

std::vector<Region> parse_regions(const std::string& list, const IndexedFasta& fasta, RegionStyle style) {
  std::vector<Region> regions;
  for (const WrittenRegion& region : parse_region_list(list, style, contigs_of(fasta)))
    regions.push_back(
        place(region, fasta, "region " + printable(region.contig) + ":" + std::to_string(region.begin + 1)));
  return regions;
}

std::vector<Region> read_regions(const std::string& path, const IndexedFasta& fasta, RegionStyle style) {
  std::vector<Region> regions;
  const RegionRules rules = {.style = style, .known = contigs_of(fasta)};
  read_region_file(path, rules, fasta.log(), [&](const WrittenRegion& region, const auto& where) {
    if (region.begin < region.end) regions.push_back(place(region, fasta, where()));
  });
  return regions;
}

}  // namespace carbon
