// `carbon vep`: reads a VCF and writes it, or a table, with variant-effect scores (docs/conventions.md,
// "Variant scores" and "Output of vep").
#pragma once

#include "src/engine/engine.hpp"
#include "src/vep/options.hpp"
#include "src/vep/score_tables.hpp"

namespace carbon {

/// Throws Error if the tables are not of the weights of the model: scores of two models in one file would
/// look like those of one.
void check_same_model(const LoadedModel& model, const ScoreTables& tables);

/// Annotates the records of the input. Throws Error; a named output file is then not left behind. If
/// options.stop asks for an early end, the passes in progress are finished and the process ends, and
/// OUTPUT.partial has the scores of a named output file. `tables`, which may be null, have more scores of the
/// same weights.
void run_vep(Engine& engine, const VepOptions& options, ScoreTables* tables = nullptr);

}  // namespace carbon
