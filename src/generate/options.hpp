// The options of a run of `carbon generate` (docs/conventions.md, "Generated sequence"). The command line
// fills them in.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/base/log.hpp"
#include "src/base/progress.hpp"
#include "src/base/run_identity.hpp"
#include "src/base/settings.hpp"
#include "src/base/stop.hpp"
#include "src/formats/provenance.hpp"
#include "src/sampling/bounds.hpp"
#include "src/sampling/samplers.hpp"

namespace carbon {

/// Bounds on the new bases as a whole. They also count for what begins in the prompt and ends in the new
/// bases.
struct BoundOptions {
  std::optional<std::pair<double, double>> gc;  // GC content in per cent: the lowest and the highest
  size_t gc_window = 0;                         // new bases that it is bounded in; 0: all
  std::vector<Motif> avoided;                   // on both strands
  std::vector<size_t> frames;  // no stop codon in these: 0, 1, 2: the new base that begins a codon
  bool prompt_frame = false;   // no stop codon in the frame that begins with the first base of the prompt
  size_t max_homopolymer = 0;  // longest run of one base; 0: any
  size_t most_mib = kMostTableMiB;  // the memory that following them may take, for each prompt
};

struct GenerateOptions {
  std::string input = "-";     // FASTA of prompts
  bool unconditional = false;  // start without prompts, from the token that begins a sequence
  std::string output = "-";    // FASTA
  size_t length = 0;           // new bases per sample
  size_t samples = 1;          // per prompt
  SamplerOptions sampler;
  std::string constraint;       // IUPAC letters of the first new bases of every sample; "": none
  std::string constraint_file;  // FASTA: one record for all prompts, or one per prompt by name; "": none
  BoundOptions bounds;
  bool include_prompt = false;              // write it before the new bases
  size_t line_length = 60;                  // bases per line; 0: one line per sequence
  std::optional<size_t> draft_tokens;       // 6-mers drafted per round; without it DraftPolicy chooses
  EarlierRun earlier = EarlierRun::refuse;  // what becomes of OUTPUT.partial
  CommandRecord record;                     // of the JSON beside the output
  ProgressMode progress = ProgressMode::automatic;
  Log* log = &silent_log();
  StopRequests* stop = nullptr;  // who may ask for an early end; null: nobody
};

/// The settings of GenerateOptions::bounds.
SettingList bound_settings(BoundOptions& bounds);
/// How many bases are drawn from which prompt.
SettingList length_settings(GenerateOptions& options);
/// Which letters are allowed.
SettingList constraint_settings(GenerateOptions& options);
/// All of these, and those of the sampler.
SettingList generate_settings(GenerateOptions& options);
/// Throws SettingError for what cannot be combined.
void check_generate_options(const GenerateOptions& options);

}  // namespace carbon
