// Where the values of `carbon scan` go: a table with one line per SNV, a VCF or BCF with one record per base,
// a bedGraph of the reference bases, or four bigWig files of probabilities.
//
// It knows how values are printed, not how they are computed.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "src/scan/assembler.hpp"

namespace carbon {

class ScanOutput {
 public:
  virtual ~ScanOutput() = default;
  /// Bases come in the order of the FASTA.
  virtual void write(const ScannedBase& base) = 0;
  /// Completes the output and gives the file its name. Without it no output file is left behind.
  virtual void close() = 0;
};

/// Opens the output that the options describe. `header_lines` go into a table, VCF or BCF, each without a
/// newline. Throws Error.
std::unique_ptr<ScanOutput> make_scan_output(const ScanOptions& options, const IndexedFasta& fasta,
                                             const std::vector<std::string>& header_lines);

}  // namespace carbon
