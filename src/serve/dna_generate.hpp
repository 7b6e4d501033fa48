// POST /v1/dna/generate: the samples that `carbon generate` draws.
#pragma once

#include "src/serve/served_model.hpp"
#include "src/serve/work.hpp"

namespace carbon {

WorkPtr make_dna_generate(const ServedModel& served, HttpExchangePtr exchange);

}  // namespace carbon
