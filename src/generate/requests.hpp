// From a prompt to the requests of its samples, and from their results to new bases; and continuations of
// prompts in memory, as `carbon generate` draws them. Files and speculative decoding belong to
// run_generate().
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/error.hpp"
#include "src/engine/request.hpp"
#include "src/generate/prompt.hpp"
#include "src/generate/run.hpp"

namespace carbon {

class Engine;

/// One sample on its way through the run.
struct SampleItem {
  std::shared_ptr<const Prompt> prompt;
  uint32_t sample = 0;               // its number among those of the prompt, from 0
  std::vector<RequestPtr> requests;  // the last one is the sample's

  size_t bytes() const { return sizeof(*this); }
};

/// The samples of a prompt from number `begin` (from 0) up to, but not including, number `end`.
struct SampleRange {
  size_t begin = 0, end = 1;
};

/// Emits samples of a prompt in order. They are distributed over `devices` devices in turn. Those on one
/// device share the computation of the prompt.
void emit_samples(const std::shared_ptr<const Prompt>& prompt, SampleRange range,
                  const SamplerOptions& sampler, size_t devices, const std::function<void(SampleItem)>& emit);

/// Returns the new bases of a finished sample as text.
std::string new_bases(const Request& request);

/// What is wrong with a sample whose outcome is not_finite: at which of its new bases.
Error not_finite(const SampleItem& item);

/// A prompt and its record number. The random numbers depend on the record number, as in `carbon generate`.
struct NumberedPrompt {
  uint64_t record = 0;
  std::string_view bases;
};

struct Continuation {
  std::string bases;
  double logp = 0;  // natural log of the probability of the new bases
};

/// Draws one sample for each prompt (sample 1 of `carbon generate`). Calls `take`, in another thread, with
/// the index of each prompt and its sample, in order. Throws Error for a prompt without A, C, G or T, for one
/// that does not fit the model's context with its new bases, and for logits that are not finite.
void generate_bases(Engine& engine, const GenerateOptions& options, std::span<const NumberedPrompt> prompts,
                    const std::function<void(size_t, const Continuation&)>& take);

}  // namespace carbon
