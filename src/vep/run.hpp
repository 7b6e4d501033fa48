// src/vep/: carbon vep: the records of a VCF and the bases of a FASTA come in, or tables of scores in the
// place of a model; the same records, or a table, go out with variant-effect scores. A record becomes a
// variant (variant, structural), a site (site, planner), requests and ratios (site_planner, recipes/), and
// is written (output).
//
// docs/conventions.md has the definitions ("Variant scores", "Output of vep").
#pragma once

#include <cstdint>
#include <string>

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

/// A run that takes all scores from tables, without a model and without a FASTA: annotates the input as the
/// options say with what the tables have. Throws Error.
void run_vep_tables(const VepOptions& options, ScoreTables& tables);

/// Throws Error if the model, as this run has opened it, computes other values than those of the tables.
void check_same_values(const LoadedModel& model, const ScoreTables& tables);

/// Writes the bases, in the lines of a BED file, of the SNVs that no table has, under the contig's names in
/// the FASTA; of the input or of its share. Returns their number. Leaves out bases that are not A, C, G or T,
/// and those that are not REF, unless `other_ref_ends`: then Error is thrown. Throws Error if the FASTA has
/// none of the contigs; some of these are a warning.
uint64_t write_missing(const VepOptions& options, ScoreTables& tables, const std::string& bed,
                       bool other_ref_ends);

}  // namespace carbon
