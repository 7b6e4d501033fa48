// Writes a report as one HTML file: nothing is loaded from elsewhere, and all is readable without script.
#pragma once

#include <string>

#include "src/report/drawing/document.hpp"

namespace carbon {

/// The whole page. `command` is the command line that made it, "" to leave it and the version out.
std::string html_of(const Report& report, const std::string& command);

}  // namespace carbon
