// `carbon generate`: reads prompts and writes new sequence, both as FASTA (docs/conventions.md, "Generated
// sequence").
//
// The text of a sample depends only on its prompt, the options, and its seed, record number and sample
// number.
#pragma once

#include "src/engine/engine.hpp"
#include "src/generate/options.hpp"

namespace carbon {

/// Generates the samples of all prompts. `drafts`: null, or a second model on as many devices, which proposes
/// 6-mers for speculative decoding; it changes no byte of the output. Throws Error; a named output file is
/// then not left behind.
void run_generate(LoadedModels& models, LoadedModels* drafts, const GenerateOptions& options);

}  // namespace carbon
