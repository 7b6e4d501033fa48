// What a scan that is in progress has done, and how an interrupted one is continued: the mark of its
// FILE.partial (src/files/resumable_output.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/files/resumable_output.hpp"
#include "src/formats/fasta.hpp"
#include "src/scan/assembler.hpp"

namespace carbon {

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

}  // namespace carbon
