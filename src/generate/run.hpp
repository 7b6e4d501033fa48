// `carbon generate`: prompts in, new sequence out, as FASTA (docs/conventions.md, "Generated sequence").
//
// What is written for a sample depends on its prompt, the options and its place (seed, record, sample) alone.
#pragma once

#include "src/engine/engine.hpp"
#include "src/generate/options.hpp"

namespace carbon {

/// `drafts`: a second model, on as many devices, that proposes what `models` then accept or not; or null. It
/// changes no byte of the output. Throws Error; nothing of a named output file remains then.
void run_generate(LoadedModels& models, LoadedModels* drafts, const GenerateOptions& options);

}  // namespace carbon
