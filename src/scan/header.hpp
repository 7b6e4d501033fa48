// What an output says about the run that made it, and what must be equal for a run to continue another.
#pragma once

#include <string>
#include <vector>

#include "src/base/run_identity.hpp"
#include "src/engine/loaded_model.hpp"
#include "src/scan/options.hpp"

namespace carbon {

/// Program and command line, unless the options leave them out, and a line ##carbon_scanModel that has
/// everything the values depend on besides the FASTA.
std::vector<std::string> scan_header_lines(const LoadedModel& model, const ScanOptions& options);

/// Everything that the output depends on, except the bases, which check_bases_before() compares, and the
/// version lines of the header, which are those of the first run.
RunIdentity scan_identity(const LoadedModel& model, const ScanOptions& options,
                          const std::vector<ScanPiece>& pieces);

}  // namespace carbon
