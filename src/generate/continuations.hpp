// Continuations of prompts in memory, as `carbon generate` draws them. Files and speculative decoding belong
// to run_generate().
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "src/engine/engine.hpp"
#include "src/generate/options.hpp"

namespace carbon {

/// A prompt and its record number. The random numbers depend on the record number, as in `carbon generate`.
struct NumberedPrompt {
  uint64_t record = 0;
  std::string_view bases;
};

struct Continuation {
  std::string bases;
  double logp = 0;  // natural log of the probability of the new bases
};

/// Draws one sample for each prompt (sample 1 of `carbon generate`). Calls `take`, in
/// another thread, with the index of each prompt and its sample, in order. Throws Error for a prompt without
/// A, C, G or T, for one that does not fit the model's context with its new bases, and for logits that are
/// not finite.
void generate_bases(Engine& engine, const GenerateOptions& options, std::span<const NumberedPrompt> prompts,
                    const std::function<void(size_t, const Continuation&)>& take);

}  // namespace carbon
