// Several files side by side: one table of all of them, and the distributions of what they have in common on
// one axis.
#pragma once

#include <string>
#include <vector>

#include "src/report/drawing/document.hpp"

namespace carbon {

/// The section that stands before those of at least two files; `name` is its own. Takes their samples.
Section runs_section(const std::string& name, std::vector<Section>& files);

}  // namespace carbon
