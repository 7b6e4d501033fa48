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

/// The options with the files that the page draws. Of a run with a session, bigWig, bedGraph, BED, GTF and
/// FASTA files are for the session alone; of others, all files are left.
ReportOptions options_of_page(const ReportOptions& options);

/// The text of options.session. Throws Error if IGV has a use for no file, for two FASTA files, for a file
/// that is not there, and for a name that XML cannot hold or that would be no session for IGV. Warns of files
/// that IGV does not read.
std::string session_text(const ReportOptions& options);

}  // namespace carbon
