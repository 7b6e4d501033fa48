// `carbon score`: FASTA in, likelihoods out (contract section 4).
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "src/pipeline/engine.hpp"
#include "src/util/progress.hpp"

namespace carbon {

enum class ScoreOutput { summary, bedgraph, tsv };
enum class ScoreLevel { base, token };
enum class ScoreStrand { forward, reverse, both };

struct ScoreOptions {
  std::vector<std::string> inputs;   // FASTA files or "-"
  std::vector<std::string> regions;  // region strings; with them or region_files exactly one indexed FASTA
  std::vector<std::string> region_files;
  std::string output = "-";
  ScoreOutput type = ScoreOutput::summary;
  ScoreLevel level = ScoreLevel::base;
  ScoreStrand strand = ScoreStrand::forward;
  size_t window = 0, stride = 0;  // bp, multiples of 6; 0: the defaults of recipe/sliding
  ProgressMode progress = ProgressMode::automatic;
};

/// Throws Error; nothing of a named output file remains then.
void run_score(Engine& engine, ScoreOptions options);

}  // namespace carbon
