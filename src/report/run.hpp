// src/report/: carbon report: files that the other commands wrote come in, and one page with pictures of
// them goes out, in HTML. figures/ has pictures in JavaScript that the page of carbon serve uses too, and
// page/ the style and script of the page.
#pragma once

#include <string>

#include "src/report/drawing/document.hpp"
#include "src/report/sources/options.hpp"

namespace carbon {

/// Throws Error for a file that cannot be drawn, and for an option that no file needs. Then nothing is
/// written.
void run_report(const ReportOptions& options);

/// The report as one HTML file: nothing is loaded from elsewhere, and all is readable without script.
/// `command` is the command line that made it, "" to leave it and the version out.
std::string html_of(const Report& report, const std::string& command);

}  // namespace carbon
