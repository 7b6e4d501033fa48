// Several files side by side: one table of all of them, and the distributions of what they have in common on
// one axis.
#pragma once

#include <string>
#include <vector>

#include "src/report/drawing/document.hpp"

namespace carbon {

/// Names of files for tables and axes, each of which is another one.
std::vector<std::string> short_names(const std::vector<std::string>& paths);

/// The section that stands before those of at least two files; `name` is its own. Takes their samples.
Section runs_section(const std::string& name, std::vector<Section>& files);

}  // namespace carbon
