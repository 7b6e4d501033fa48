// Which bases a run of `carbon scan` covers: those of the regions and targets that are asked for, and of
// these the bases of its share.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/base/long_run.hpp"
#include "src/formats/fasta.hpp"
#include "src/formats/sequence_inputs.hpp"

namespace carbon {

/// Bases [begin, end) of a contig of `length` bases, whose place among the contigs of the FASTA is `number`.
struct ScanPiece {
  std::string contig;
  size_t number = 0;
  int64_t length = 0, begin = 0, end = 0;
  /// The bases of a piece that are wanted, in order, from `begin` to `end`. None: all of it.
  Intervals parts = {};

  /// The first wanted base at or after `position`; `end` if there is none.
  int64_t next(int64_t position) const;
  /// Behind the last wanted base before `position`, where there is one.
  int64_t last_end(int64_t position) const;
};

/// Which bases to scan, by the rules of the bcftools options with these names. Empty texts select all bases.
struct ScanSelection {
  std::string regions, regions_file;  // at most one of the two
  std::string targets, targets_file;  // at most one of the two; with a leading ^ all other bases
};

/// The selected bases as pieces that neither overlap nor touch, in the order of the FASTA. Throws Error for
/// a contig that the FASTA lacks, for a region that begins beyond the end of its contig, and if nothing is
/// selected.
std::vector<ScanPiece> selected_pieces(const IndexedFasta& fasta, const ScanSelection& selection);

/// The number of bases of the pieces.
uint64_t total_bases(const std::vector<ScanPiece>& pieces);

/// One piece for each contig, with the pieces on it as its parts: a window that gives values to several of
/// them is computed once.
std::vector<ScanPiece> joined_pieces(const std::vector<ScanPiece>& pieces);

/// The pieces of the share's bases. The shares of all indices, one after the other, are all bases.
std::vector<ScanPiece> pieces_of_share(const std::vector<ScanPiece>& pieces, const Shard& shard);

}  // namespace carbon
