// POST /tokenize and /detokenize: text to token ids and back, as `carbon tokenize` does it.
#pragma once

#include "src/serve/served_model.hpp"
#include "src/serve/work.hpp"

namespace carbon {

/// {"prompt": text} becomes {"count", "max_model_len", "tokens"}.
WorkPtr make_tokenize(const ServedModel& served, HttpExchangePtr exchange);
/// {"tokens": ids} becomes {"prompt"}.
WorkPtr make_detokenize(const ServedModel& served, HttpExchangePtr exchange);

}  // namespace carbon
