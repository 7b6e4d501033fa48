// POST /v1/embeddings: OpenAI's embeddings, with the numbers of `carbon embed`.
#pragma once

#include "src/serve/served_model.hpp"
#include "src/serve/work.hpp"

namespace carbon {

WorkPtr make_embedding(const ServedModel& served, HttpExchangePtr exchange);

}  // namespace carbon
