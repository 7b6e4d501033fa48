// POST /v1/dna/generate: the samples that `carbon generate` draws.
#pragma once

#include "src/generate/options.hpp"
#include "src/generate/prompt.hpp"
#include "src/serve/served_model.hpp"
#include "src/serve/work.hpp"

namespace carbon {

/// The options of a request, without what it says of its prompt. Throws ApiError.
GenerateOptions read_generate_options(const Fields& fields, size_t most_samples);
/// The request for the probabilities of the bases of a finished sample: marginals, of which the first row
/// speaks of the 6-mer with the first new base.
RequestPtr sample_marginals(const Prompt& prompt, const Request& sample, const TokenLayout& layout);

WorkPtr make_dna_generate(const ServedModel& served, HttpExchangePtr exchange);

}  // namespace carbon
