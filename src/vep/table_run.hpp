// A run of `carbon vep` that takes all scores from tables: without a model, and without a FASTA.
#pragma once

#include "src/vep/options.hpp"
#include "src/vep/score_tables.hpp"

namespace carbon {

/// Annotates the input as the options say with what the tables have. Throws Error.
void run_vep_tables(const VepOptions& options, ScoreTables& tables);

/// Writes the bases, in the lines of a BED file, of the SNVs of the input that no table has, under the
/// contig's names in the FASTA. Returns their number.
uint64_t write_missing(const VepOptions& options, ScoreTables& tables, const std::string& bed);

}  // namespace carbon
