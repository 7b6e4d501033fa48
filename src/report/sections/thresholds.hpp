// What a clinic asks of a score that separates two classes: at which value to decide, and how far the
// decision can be trusted.
#pragma once

#include <string>

#include "src/report/drawing/document.hpp"
#include "src/report/sources/variants.hpp"
#include "src/statistics/curves.hpp"

namespace carbon {

/// A table of thresholds of `tag`: those at round sensitivities and specificities, and that with the largest
/// sum of both. Neither class is empty. `negate` as in the groups.
Table threshold_table(const ScoreGroups& groups, const std::string& tag, const ClassNames& names,
                      bool negate);

}  // namespace carbon
