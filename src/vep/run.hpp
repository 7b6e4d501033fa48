// `carbon vep`: reads a VCF and writes it, or a table, with variant-effect scores (docs/conventions.md,
// "Variant scores" and "Output of vep").
#pragma once

#include "src/engine/engine.hpp"
#include "src/vep/options.hpp"

namespace carbon {

/// Annotates the records of the input. Throws Error; a named output file is then not left behind. If
/// options.stop asks for an early end, the passes in progress are finished and the process ends, and
/// OUTPUT.partial has the scores of a named output file.
void run_vep(Engine& engine, const VepOptions& options);

}  // namespace carbon
