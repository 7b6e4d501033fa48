// `carbon report`: reads files that the other commands wrote, and writes pictures of them.
#pragma once

#include "src/report/sources/options.hpp"

namespace carbon {

/// Throws Error for a file that cannot be drawn, and for an option that no file needs. Then nothing is
/// written.
void run_report(const ReportOptions& options);

}  // namespace carbon
