// Where the bases of a run go: to its output and its histogram, while FILE.partial says how far both have
// come.
//
// The histogram says how often each value of an SNV occurs: the background in which `carbon +rank` places a
// value. The mark of FILE.partial (src/files/resumable_output.hpp) says what a scan that is in progress has
// done, and how an interrupted one is continued.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "src/files/resumable_output.hpp"
#include "src/formats/fasta.hpp"
#include "src/scan/assembler.hpp"
#include "src/scan/output.hpp"
#include "src/scan/pieces.hpp"

namespace carbon {

/// Values are counted in bins of a hundredth, apart for each trinucleotide and alternative, because how
/// likely a base changes depends on its neighbours.
class ScanHistogram {
 public:
  /// Opens the FASTA once more, for the neighbours of the bases. Throws Error.
  ScanHistogram(const std::string& fasta, Log& log) : fasta_(fasta, log) {}

  /// Counts the three SNVs of a base.
  void add(const ScannedBase& base);

  /// Lines of TRI, ALT, BIN and COUNT, sorted. TRI is the trinucleotide around the base; it is "." where a
  /// neighbour is absent or not A, C, G or T.
  std::string text() const;
  /// Adds the counts of text(). Throws Error for any other text.
  void add_text(const std::string& text);

 private:
  // "." and 64 trinucleotides, each with four alternatives, in alphabetical order.
  static constexpr size_t kClasses = (1 + 64) * 4;

  size_t trinucleotide(const ScannedBase& base);

  IndexedFasta fasta_;
  std::array<std::unordered_map<int64_t, uint64_t>, kClasses> counts_;  // by bin
  // A slice of the contig whose number is `contig_`, in upper case.
  std::string slice_;
  size_t contig_ = 0;
  int64_t slice_begin_ = 0;
};

/// The bases that have values, in order.
struct ScannedBases {
  uint64_t count = 0;
  uint64_t checksum = 0;  // of contigs, positions and letters

  void add(const ScanPiece& piece, int64_t position, int digit);
};

/// What a scan has done before a base.
struct ScanMark {
  size_t contig = 0;     // its number in the FASTA
  int64_t position = 0;  // of the base
  ScannedBases before;
  std::string histogram;  // of these bases, as ScanHistogram::text(); "" without one
};

/// The parts of the pieces at and after the base of the mark.
std::vector<ScanPiece> pieces_from(const std::vector<ScanPiece>& pieces, const ScanMark& mark);

/// Throws Error if the bases of the pieces before the mark are not those that the mark counts, because the
/// FASTA has changed.
void check_bases_before(const ScanMark& mark, const std::vector<ScanPiece>& pieces,
                        const IndexedFasta& fasta);

/// Of a run that continues another, where that one ended. Throws Error for a state file with another mark
/// than that of a scan.
std::optional<ScanMark> continued_mark(const ResumableOutput& partial);

/// Says in the state of the output that everything before the mark is there.
void save_mark(ResumableOutput& partial, const ScanMark& mark);

class ScanRecorder {
 public:
  /// `partial` is null for an output that cannot be continued, `histogram` if none is wanted. A run that
  /// continues another begins with what that one had done; `continued` is empty for other runs.
  ScanRecorder(ScanOutput& output, ResumableOutput* partial, const std::optional<ScanMark>& continued,
               ScanHistogram* histogram);

  /// Bases come in the order of the FASTA.
  void write(const ScannedBase& base);
  /// How many bases have values, those of the run that this one continues included.
  uint64_t scored() const { return scored_.count; }

 private:
  using Block = std::pair<size_t, int64_t>;  // the number of a contig, and that of a block on it

  /// `next`: where the next base may be, on the contig of this number.
  void end_block(size_t contig, int64_t next);

  ScanOutput& output_;
  ResumableOutput* partial_;
  ScanHistogram* histogram_;
  ScannedBases scored_;
  std::optional<Block> block_;  // of the last base
};

}  // namespace carbon
