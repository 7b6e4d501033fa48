// A session of IGV beside the page: an XML file that names the files of the report as tracks, by paths
// relative to itself, so that a folder with all of them can be moved.
//
// What IGV reads of it: igvteam/igv, IGVSessionReader.java, and igvteam/igv.js, igvXmlSession.js. A session
// of resources alone is complete; IGV chooses how a track is drawn by the end of its name.
#pragma once

#include <string>

#include "src/report/sources/options.hpp"

namespace carbon {

/// The options with the files that the page draws. Of a run with a session, bigWig, bedGraph, BED, GTF and
/// FASTA files are for the session alone; of others, all files are left.
ReportOptions options_of_page(const ReportOptions& options);

/// The text of options.session. Throws Error if IGV has a use for no file, for two FASTA files, for a file
/// that is not there, and for a name that XML cannot hold or that would be no session for IGV. Warns of files
/// that IGV does not read.
std::string session_text(const ReportOptions& options);

}  // namespace carbon
