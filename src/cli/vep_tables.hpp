// --table and --fill of carbon vep: scores of SNVs from outputs of carbon scan.
#pragma once

#include "src/cli/options.hpp"
#include "src/engine/engine.hpp"
#include "src/files/temporary_files.hpp"
#include "src/vep/options.hpp"
#include "src/vep/score_tables.hpp"

namespace carbon {

/// Whether nothing but the tables gives scores: no recipe is asked for beside them, or they are, by name.
/// Throws Error for a name without tables.
bool only_tables(const CommandLine& line, const VepOptions& options, bool named);

/// Throws Error for options that have no effect, or are missing, in a run of tables alone.
void check_table_options(const CommandLine& line, const VepOptions& options, bool fill);

/// Opens the tables of the options; there is at least one. Throws Error.
ScoreTables open_tables(const VepOptions& options);

/// Computes the SNVs of the input that the tables lack, as the scan that made these did, and adds a table of
/// them, in `folder`, to the options. Throws Error.
void fill_tables(Engine& engine, VepOptions& options, PrivateDirectory& folder);

}  // namespace carbon
