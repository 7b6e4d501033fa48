// POST /v1/dna/score: what `carbon score` says of sequences.
#pragma once

#include "src/serve/served_model.hpp"
#include "src/serve/work.hpp"

namespace carbon {

WorkPtr make_dna_score(const ServedModel& served, HttpExchangePtr exchange);

}  // namespace carbon
