// Where the bases of a run go: to its output and its histogram, while FILE.partial says how far both have
// come.
#pragma once

#include <optional>
#include <utility>

#include "src/scan/histogram.hpp"
#include "src/scan/output.hpp"
#include "src/scan/resume.hpp"

namespace carbon {

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
