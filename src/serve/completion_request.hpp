// The fields of POST /v1/completions (docs/serving.md has them in a table).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/sampling/samplers.hpp"
#include "src/serve/options.hpp"
#include "src/serve/prompts.hpp"
#include "src/verbs/fields.hpp"
#include "src/verbs/served_model.hpp"

namespace carbon {

struct CompletionRequest {
  std::vector<SentPrompt> prompts;
  size_t samples = 1;      // per prompt
  size_t max_tokens = 16;  // 6-mers; 0: none, for a prompt that is only scored
  SamplerOptions sampler;  // with the seed that was given or drawn
  std::vector<std::string> stops;
  bool echo = false, stream = false;
  bool include_usage = false;  // a last event of a stream has it
  bool token_ids = false;
  std::optional<size_t> logprobs, prompt_logprobs;  // how many of the likeliest 6-mers
};

/// Throws ApiError for fields that are wrong, are not supported, or go beyond the limits.
CompletionRequest read_completion(const Fields& fields, const ServedModel& served,
                                  const RequestLimits& limits);

/// A seed for a request without one: at most 2^53, so that every client reads it exactly.
uint64_t draw_seed();
/// The field `seed`: a whole number of 64 bits, with or without sign.
std::optional<uint64_t> read_seed(const Fields& fields);

}  // namespace carbon
