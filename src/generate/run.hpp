// src/generate/: carbon generate: prompts come in and new sequence goes out, both as FASTA. prompt makes
// prompts of records or token ids, bounds holds for what is drawn, and requests are those of the samples.
//
// docs/conventions.md has the definitions ("Generated sequence").
//
// The command line fills in the options. prompt.hpp makes prompts of records or token ids, under the bounds
// of bounds.hpp; requests.hpp makes requests of their samples, and run.cpp reads the files and writes the
// samples. The text of a sample depends only on its prompt, the options, and its seed, record number and
// sample number.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "src/base/log.hpp"
#include "src/base/long_run.hpp"
#include "src/base/progress.hpp"
#include "src/base/settings.hpp"
#include "src/formats/provenance.hpp"
#include "src/generate/bounds.hpp"
#include "src/sampling/samplers.hpp"

namespace carbon {

class LoadedModels;

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

/// How many bases are drawn from which prompt.
SettingList length_settings(GenerateOptions& options);
/// Which letters are allowed.
SettingList constraint_settings(GenerateOptions& options);
/// All of these, and those of the sampler.
SettingList generate_settings(GenerateOptions& options);
/// Throws SettingError for what cannot be combined.
void check_generate_options(const GenerateOptions& options);

/// Generates the samples of all prompts. `drafts`: null, or a second model on as many devices, which proposes
/// 6-mers for speculative decoding; it changes no byte of the output. Throws Error; a named output file is
/// then not left behind.
void run_generate(LoadedModels& models, LoadedModels* drafts, const GenerateOptions& options);

}  // namespace carbon
