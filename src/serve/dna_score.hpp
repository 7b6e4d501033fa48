// POST /v1/dna/score: what `carbon score` says of sequences.
#pragma once

#include "src/score/options.hpp"
#include "src/serve/served_model.hpp"
#include "src/serve/work.hpp"

namespace carbon {

/// The options of a request, complete for the model. Throws ApiError and SettingError.
ScoreOptions read_score_options(const Fields& fields, const ModelConfig& config);

WorkPtr make_dna_score(const ServedModel& served, HttpExchangePtr exchange);

}  // namespace carbon
