// `carbon score`: reads FASTA and writes log-likelihoods (docs/conventions.md, "Score windows";
// carbon-score(1)).
#pragma once

#include <cstddef>
#include <string>

#include "src/base/log.hpp"
#include "src/base/progress.hpp"
#include "src/engine/engine.hpp"
#include "src/genome/sequence_inputs.hpp"
#include "src/score/requests.hpp"

namespace carbon {

enum class ScoreOutput { summary, bedgraph, tsv };

struct ScoreOptions {
  SequenceInputs inputs;
  std::string output = "-";
  ScoreOutput type = ScoreOutput::summary;
  ScoreLevel level = ScoreLevel::base;
  StrandChoice strand = StrandChoice::forward;
  size_t window = 0, stride = 0;  // bp, multiples of 6; 0: the defaults of windows.hpp
  ProgressMode progress = ProgressMode::automatic;
  Log* log = &silent_log();
};

/// Scores the sequences of the inputs. Throws Error; a named output file is then not left behind.
void run_score(Engine& engine, ScoreOptions options);

}  // namespace carbon
