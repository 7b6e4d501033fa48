// POST /v1/dna/scan: what `carbon scan` says of a sequence.
#pragma once

#include "src/scan/options.hpp"
#include "src/serve/served_model.hpp"
#include "src/serve/work.hpp"

namespace carbon {

/// The options of a request to a model whose tokens have `bases` bases. Throws ApiError.
ScanOptions read_scan_options(const Fields& fields, size_t bases);

WorkPtr make_dna_scan(const ServedModel& served, HttpExchangePtr exchange);

}  // namespace carbon
