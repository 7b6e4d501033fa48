// POST /v1/dna/predict: values of the labels of a classification head, as `carbon predict` writes them.
#pragma once

#include "src/serve/served_model.hpp"
#include "src/serve/work.hpp"

namespace carbon {

WorkPtr make_dna_predict(const ServedModel& served, HttpExchangePtr exchange);

}  // namespace carbon
