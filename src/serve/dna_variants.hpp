// POST /v1/dna/variants: what `carbon vep` says of variants.
#pragma once

#include "src/serve/served_model.hpp"
#include "src/serve/shared_reference.hpp"
#include "src/serve/work.hpp"

namespace carbon {

/// `reference`: the FASTA of the server; null if it has none.
WorkPtr make_dna_variants(const ServedModel& served, SharedReference* reference, HttpExchangePtr exchange);

}  // namespace carbon
