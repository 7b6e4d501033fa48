// `carbon vep`: VCF in, VCF or a table with variant-effect scores out (docs/conventions.md, "Variant scores" and "Output of vep").
#pragma once

#include "src/engine/engine.hpp"
#include "src/vep/options.hpp"

namespace carbon {

/// Annotates the records of the input. Throws Error; nothing of a named output file remains then. When
/// options.stop asks for an early end, the passes under way are finished and the process ends; of a named
/// output file OUTPUT.partial remains then.
void run_vep(Engine& engine, const VepOptions& options);

}  // namespace carbon
