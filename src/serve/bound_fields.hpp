// The fields of a request that bound the new bases as a whole, as the options of carbon generate do.
#pragma once

#include "src/generate/options.hpp"
#include "src/serve/fields.hpp"

namespace carbon {

/// The fields gc, gc_window, avoid, no_stop and max_homopolymer. Throws ApiError, also for a sampler that
/// cannot keep bounds.
BoundOptions read_bounds(const Fields& fields, SamplerKind sampler);

}  // namespace carbon
