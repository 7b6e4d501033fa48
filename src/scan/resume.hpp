// FILE.partial, the output of a scan that is in progress, and how far it is complete. An interrupted run can
// be continued from there.
//
// FILE.partial.state says how much of FILE.partial holds whole blocks, and with which base the next one
// begins. It is replaced at once and not in parts, once a second at most, so that a killed process loses what
// it did since then. A run that continues another cuts the output there and adds to it. So the output has the
// bytes of a run without interruption. Neither file is synced to disk: after a power cut the output may lack
// its end, which is noticed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/base/log.hpp"
#include "src/base/run_identity.hpp"
#include "src/base/stopwatch.hpp"
#include "src/genome/fasta.hpp"
#include "src/genome/locked_file.hpp"
#include "src/genome/partial_files.hpp"
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

class PartialScan {
 public:
  /// Opens or creates `target`.partial and locks it. Throws Error if another run has locked it, if it is not
  /// that of a scan, if it holds bases which are neither to be continued nor discarded, or if the run that
  /// is to be continued is another one. The files are then not changed.
  PartialScan(const std::string& target, const RunIdentity& run, EarlierRun earlier, Log& log);
  /// Removes both files, unless they can be continued and are wanted: after a stop, or if this run was asked
  /// to resume.
  ~PartialScan();
  PartialScan(const PartialScan&) = delete;
  PartialScan& operator=(const PartialScan&) = delete;

  const std::string& path() const { return file_.path(); }
  /// Where an earlier run ended that this one continues.
  const std::optional<ScanMark>& continued() const { return continued_; }
  /// False soon after a mark: a run that is killed may lose a second.
  bool wants_mark() const { return !since_ || since_->seconds() >= kLeastSeconds; }
  /// All bases before the mark, and no others, must have been passed to the file.
  void save(const ScanMark& mark);
  /// Whether there is anything to continue.
  bool saved() const { return saved_; }
  /// Called when the output has its name.
  void finish();

 private:
  static constexpr double kLeastSeconds = 1;

  struct State {
    ScanMark mark;
    uint64_t bytes = 0;      // of FILE.partial
    uint32_t end_check = 0;  // of the last of these bytes
  };
  std::optional<State> read_state(const RunIdentity& run, EarlierRun earlier) const;
  void write_state(const State& state);
  uint32_t end_check(uint64_t bytes) const;

  LockedFile file_;
  std::string state_path_, identity_;
  bool keep_;
  bool saved_ = false, finished_ = false;
  std::optional<ScanMark> continued_;
  std::optional<Stopwatch> since_;                             // the last mark of this run
  std::optional<SignalCleanup> file_cleanup_, state_cleanup_;  // while there is nothing to continue
};

}  // namespace carbon
