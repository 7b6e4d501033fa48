// The sequences that a run reads: whole FASTA files, one after the other, or regions of one indexed FASTA
// file, and what a region as it is written (regions.hpp) selects there.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "src/base/log.hpp"
#include "src/base/words.hpp"
#include "src/files/sequence_output.hpp"
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

/// Half-open intervals of one contig, ascending and apart.
using Intervals = std::vector<std::pair<int64_t, int64_t>>;
/// Regions of each contig, in any order, as intervals: those that touch are one.
std::unordered_map<std::string, Intervals> joined_by_contig(std::vector<Region> regions);

struct SequenceInputs {
  std::vector<std::string> files;    // FASTA files or "-"; exactly one indexed FASTA if there are regions
  std::vector<std::string> regions;  // as parse_region() reads them
  std::vector<std::string> region_files;  // as read_regions() reads them

  /// Regions are taken in the order of the file, and may not overlap: bedGraph has one value for each base,
  /// in order.
  bool in_order = false;

  bool has_regions() const { return !regions.empty() || !region_files.empty(); }
};

/// The regions that are asked for, in their order.
std::vector<Region> regions_of(const SequenceInputs& inputs, const IndexedFasta& fasta);

/// The place of a sequence or region, for output.
struct SequencePlace {
  std::string name;
  int64_t begin = 0, end = 0;  // 0-based half-open, absolute
};

/// The name of a sequence, or of a region in the form that samtools faidx uses.
std::string shown_name(const SequencePlace& place, bool is_region);

/// Which strands of a sequence are read. The reverse strand is the reverse complement, read from its first
/// base.
enum class StrandChoice { forward, reverse, both };
inline constexpr Word<StrandChoice> kStrandWords[] = {
    {"+", StrandChoice::forward}, {"-", StrandChoice::reverse}, {"both", StrandChoice::both}};

/// How many sequences and bases there are.
struct SequenceTotals {
  uint64_t sequences = 0, bases = 0;
};

/// Calls `take` for every sequence or region in order, with its bases as they are in the file, and before
/// that `known` if it is known how many there are. Throws Error; `command` is the name of the caller in its
/// messages.
void read_sequences(const std::string& command, const SequenceInputs& inputs, Log& log,
                    const std::function<void(SequencePlace, const std::string&)>& take,
                    const std::function<void(const SequenceTotals&)>& known);

/// The same for a run that may continue an earlier one, whose sequences are `continued`: they are read, but
/// not given to `take`. `take` also gets the name by name_of(), by which sequences are compared with those of
/// the earlier run, and what has been read up to this sequence. Throws Error if the earlier run read other
/// sequences.
void read_further_sequences(
    const std::string& command, const SequenceInputs& inputs, Log& log,
    const std::optional<SequencesDone>& continued,
    const std::function<std::string(const SequencePlace&)>& name_of,
    const std::function<void(SequencePlace, const std::string& name, const std::string& bases,
                             const SequencesDone& done)>& take,
    const std::function<void(const SequenceTotals&)>& known);

}  // namespace carbon
