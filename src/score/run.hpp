// `carbon score`: FASTA in, likelihoods out (contract section 4).
#pragma once

#include <cstddef>
#include <string>

#include "src/base/progress.hpp"
#include "src/engine/engine.hpp"
#include "src/genome/sequence_inputs.hpp"

namespace carbon {

enum class ScoreOutput { summary, bedgraph, tsv };
enum class ScoreLevel { base, token };

struct ScoreOptions {
  SequenceInputs inputs;
  std::string output = "-";
  ScoreOutput type = ScoreOutput::summary;
  ScoreLevel level = ScoreLevel::base;
  StrandChoice strand = StrandChoice::forward;
  size_t window = 0, stride = 0;  // bp, multiples of 6; 0: the defaults of recipe/sliding
  ProgressMode progress = ProgressMode::automatic;
};

/// Throws Error; nothing of a named output file remains then.
void run_score(Engines& engines, ScoreOptions options);

}  // namespace carbon
