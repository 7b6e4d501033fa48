// Where the values of `carbon scan` go: a table with one line per SNV, a VCF or BCF with one record per base,
// a bedGraph of the reference bases, or four bigWig files of probabilities.
//
// It knows how values are printed, not how they are computed.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "src/files/output.hpp"
#include "src/files/temporary_files.hpp"
#include "src/scan/assembler.hpp"

namespace carbon {

class ScanOutput {
 public:
  virtual ~ScanOutput() = default;
  /// Bases come in the order of the FASTA.
  virtual void write(const ScannedBase& base) = 0;
  virtual Output& file() = 0;
};

/// How the output is begun.
struct ScanDestination {
  std::vector<std::string> header_lines;  // of a table, VCF or BCF, each without a newline
  TemporaryName temporary = TemporaryName::unique;
  bool continued = false;  // FILE.partial has its header, and bases are added to it
};

/// Opens the output that the options describe. Throws Error.
std::unique_ptr<ScanOutput> make_scan_output(const ScanOptions& options, const IndexedFasta& fasta,
                                             const ScanDestination& destination);

}  // namespace carbon
