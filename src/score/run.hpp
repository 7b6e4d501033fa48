// `carbon score`: reads FASTA and writes log-likelihoods (docs/conventions.md, "Score windows";
// carbon-score(1)).
#pragma once

#include "src/engine/engine.hpp"
#include "src/score/options.hpp"

namespace carbon {

/// Scores the sequences of the inputs. Throws Error; a named output file is then not left behind.
void run_score(Engine& engine, ScoreOptions options);

}  // namespace carbon
