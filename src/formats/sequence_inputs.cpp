#include "src/formats/sequence_inputs.hpp"

#include <algorithm>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "src/base/error.hpp"
#include "src/base/json.hpp"
#include "src/base/words.hpp"
#include "src/formats/contig_spelling.hpp"
#include "src/formats/fasta.hpp"

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

// As samtools writes it; an end that is open is left out. Of Region and of WrittenRegion.
template <class Range>
std::string text_of(const Range& region) {
  const std::string end = region.end == kOpenEnd ? "" : std::to_string(region.end);
  if (region.begin == 0 && end.empty()) return region.contig;
  return region.contig + ":" + std::to_string(region.begin + 1) + "-" + end;
}

// Sorts regions by their place in the file. Throws Error if two overlap.
void put_in_order(const std::string& command, const IndexedFasta& fasta, std::vector<Region>& regions) {
  std::unordered_map<std::string, size_t> ranks;
  for (const std::string& name : fasta.names()) ranks.emplace(name, ranks.size());
  const auto place = [&](const Region& region) {
    return std::make_tuple(ranks.at(region.contig), region.begin, region.end);
  };
  std::sort(regions.begin(), regions.end(),
            [&](const Region& a, const Region& b) { return place(a) < place(b); });
  const auto overlap = std::adjacent_find(
      regions.begin(), regions.end(),
      [](const Region& a, const Region& b) { return a.contig == b.contig && b.begin < a.end; });
  if (overlap != regions.end())
    throw Error(command,
                "the regions " + text_of(*overlap) + " and " + text_of(*(overlap + 1)) +
                    " overlap, and this output has one value for each base; merge them, e.g. with "
                    "bedtools merge",
                {"or write a table with {-O} tsv"});
}

}  // namespace

Region parse_region(const std::string& text, const IndexedFasta& fasta) {
  return place(parse_written_region(text, RegionStyle::samtools, contigs_of(fasta)), fasta,
               "region '" + printable(text) + "'");
}

std::vector<Region> parse_regions(const std::string& list, const IndexedFasta& fasta, RegionStyle style) {
  std::vector<Region> regions;
  for (const WrittenRegion& region : parse_region_list(list, style, contigs_of(fasta)))
    regions.push_back(place(region, fasta, "region '" + printable(text_of(region)) + "'"));
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

std::unordered_map<std::string, Intervals> joined_by_contig(std::vector<Region> regions) {
  std::sort(regions.begin(), regions.end(),
            [](const Region& a, const Region& b) { return a.begin < b.begin; });
  std::unordered_map<std::string, Intervals> joined;
  for (const Region& region : regions) {
    Intervals& intervals = joined[region.contig];
    if (!intervals.empty() && region.begin <= intervals.back().second)
      intervals.back().second = std::max(intervals.back().second, region.end);
    else
      intervals.emplace_back(region.begin, region.end);
  }
  return joined;
}

std::vector<Region> regions_of(const SequenceInputs& inputs, const IndexedFasta& fasta) {
  std::vector<Region> regions;
  for (const std::string& text : inputs.regions) regions.push_back(parse_region(text, fasta));
  for (const std::string& path : inputs.region_files)
    for (Region& region : read_regions(path, fasta)) regions.push_back(std::move(region));
  return regions;
}

std::string shown_name(const SequencePlace& place, bool is_region) {
  if (!is_region) return place.name;
  return place.name + ":" + std::to_string(place.begin + 1) + "-" + std::to_string(place.end);
}

void read_sequences(const std::string& command, const SequenceInputs& inputs, Log& log,
                    const std::function<void(SequencePlace, const std::string&)>& take,
                    const std::function<void(const SequenceTotals&)>& known) {
  if (!inputs.has_regions()) {
    for (const std::string& path : inputs.files) {
      FastaReader reader(path, log);
      for (FastaRecord record; reader.next(record);) {
        const auto length = static_cast<int64_t>(record.sequence.size());
        take({record.name, 0, length}, record.sequence);
      }
    }
    return;
  }
  if (inputs.files.size() != 1 || inputs.files.front() == "-")
    throw Error(command, "regions need exactly one indexed FASTA file, not standard input or several files");
  const IndexedFasta fasta(inputs.files.front(), log);
  std::vector<Region> regions = regions_of(inputs, fasta);
  if (inputs.in_order) put_in_order(command, fasta, regions);
  SequenceTotals totals{regions.size(), 0};
  for (const Region& region : regions) totals.bases += static_cast<uint64_t>(region.end - region.begin);
  known(totals);
  for (const Region& region : regions)
    take({region.contig, region.begin, region.end}, fasta.fetch(region.contig, region.begin, region.end));
}

void read_further_sequences(const std::string& command, const SequenceInputs& inputs, Log& log,
                            const std::optional<SequencesDone>& continued,
                            const std::function<std::string(const SequencePlace&)>& name_of,
                            const std::function<void(SequencePlace, const std::string&, const std::string&,
                                                     const SequencesDone&)>& take,
                            const std::function<void(const SequenceTotals&)>& known) {
  SequencesRead read(continued);
  read_sequences(
      command, inputs, log,
      [&](SequencePlace place, const std::string& bases) {
        const std::string name = name_of(place);
        if (read.next(name, bases)) take(std::move(place), name, bases, read.done());
      },
      known);
  read.finish();
}

}  // namespace carbon
