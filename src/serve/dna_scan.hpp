// POST /v1/dna/scan: what `carbon scan` says of a sequence.
#pragma once

#include "src/serve/served_model.hpp"
#include "src/serve/work.hpp"

namespace carbon {

WorkPtr make_dna_scan(const ServedModel& served, HttpExchangePtr exchange);

}  // namespace carbon
