// What `carbon generate` was asked for (docs/conventions.md, "Generated sequence").
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "src/base/progress.hpp"
#include "src/sampling/samplers.hpp"

namespace carbon {

struct GenerateOptions {
  std::string input = "-";     // FASTA of prompts
  bool unconditional = false;  // one record without a prompt instead
  std::string output = "-";    // FASTA
  size_t length = 0;           // new bases a sample
  size_t samples = 1;          // of each prompt
  SamplerOptions sampler;
  std::string constraint;              // IUPAC letters of the first new bases of every sample; "": none
  std::string constraint_file;         // FASTA: one record for all prompts, or one for each by name; "": none
  std::string prefix;                  // metadata text before <dna>
  bool include_prompt = false;         // write it before the new bases
  size_t line_length = 60;             // bases; 0: all on one line
  std::optional<size_t> draft_tokens;  // 6-mers drafted a round; nothing: chosen from what is measured
  ProgressMode progress = ProgressMode::automatic;
};

}  // namespace carbon
