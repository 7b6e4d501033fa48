// The work of requests (model/work.hpp).
#pragma once

#include <span>

#include "src/engine/request.hpp"
#include "src/model/work.hpp"

namespace carbon {

/// The work of two passes: one over the requests without a parent, and one over those with a parent.
Work requests_work(const ModelConfig& config, const WorkUnits& units, std::span<const RequestPtr> requests);

}  // namespace carbon
