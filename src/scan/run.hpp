// `carbon scan`: reads a FASTA and writes a value for every base, or a score for every SNV, of it
// (docs/recipes.md, "Scan"; carbon-scan(1)).
#pragma once

#include "src/engine/engine.hpp"
#include "src/scan/options.hpp"

namespace carbon {

/// Scans the bases that the options select. Throws Error; a named output file is then not left behind.
void run_scan(Engine& engine, ScanOptions options);

}  // namespace carbon
