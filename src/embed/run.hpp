// `carbon embed`: FASTA in, hidden states out (docs/conventions.md, "Embeddings").
#pragma once

#include <optional>
#include <string>

#include "kernels/tensor.hpp"
#include "src/base/progress.hpp"
#include "src/engine/engine.hpp"
#include "src/genome/sequence_inputs.hpp"

namespace carbon {

enum class EmbedOutput { tsv, npy, safetensors };

/// Which rows of a sequence: that of </dna>, of the last 6-mer, the mean over 6-mers, every 6-mer.
enum class Pool { separator, last, mean, none };

struct EmbedOptions {
  SequenceInputs inputs;
  std::string output = "-";
  std::optional<EmbedOutput> type;  // without it what the suffix of `output` says, else tsv
  DType dtype = DType::f32;         // of the output: f32 or f16
  int layer = kFinalNorm;           // or 1 to the number of blocks
  Pool pool = Pool::separator;
  StrandChoice strand = StrandChoice::forward;
  bool pad_tail = false;  // a partial 6-mer at the end is padded with A; otherwise it is left out
  ProgressMode progress = ProgressMode::automatic;
};

/// What is wrong with the options whatever the model is. Throws Error.
void check_embed_options(const EmbedOptions& options);

/// Throws Error; nothing of the output files remains then.
void run_embed(Engine& engine, const EmbedOptions& options);

}  // namespace carbon
