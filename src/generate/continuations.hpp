// Continuations of prompts in memory, as `carbon generate` draws them; files and drafting belong to
// run_generate().
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "src/engine/engine.hpp"
#include "src/sampling/samplers.hpp"

namespace carbon {

/// A prompt and its number, which the draws depend on as they do on that of a record of `carbon generate`.
struct NumberedPrompt {
  uint64_t record = 0;
  std::string_view bases;
};

struct Continuation {
  std::string bases;
  double logp = 0;  // nats, as in the names that `carbon generate` writes
};

/// Calls `take`, in another thread, with the index and the first sample of each prompt, `length` new bases,
/// in order. Throws Error for a prompt without a base or one that does not fit the model with its new bases,
/// and for logits that are not finite.
void generate_bases(Engine& engine, const SamplerOptions& sampler, size_t length,
                    std::span<const NumberedPrompt> prompts,
                    const std::function<void(size_t, const Continuation&)>& take);

}  // namespace carbon
