// POST /v1/completions: OpenAI's completions, in 6-mers.
#pragma once

#include "src/serve/served_model.hpp"
#include "src/serve/work.hpp"

namespace carbon {

WorkPtr make_completion(const ServedModel& served, HttpExchangePtr exchange);

}  // namespace carbon
