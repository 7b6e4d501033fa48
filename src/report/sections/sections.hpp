// src/report/sections/: what a report consists of: the data of a file of one kind come in, and a section
// with figures and tables goes out.
//
// Here is a function for each kind of file, which reads it and draws it.
//
// `name` is the beginning of the names of section and figures, made of letters, digits and _.
#pragma once

#include <string>
#include <vector>

#include "src/report/drawing/document.hpp"
#include "src/report/sources/options.hpp"

namespace carbon {

class VariantComparison;

/// A section with its name, its title (the name of the file, and `what`), and what the header of the file
/// says of its making.
Section begin_section(const std::string& name, const std::string& path, const std::string& what,
                      const std::vector<std::string>& header);

/// What is compared with other files also goes to `comparison`, if it is not null.
Section variant_section(const std::string& name, const std::string& path, const ReportOptions& options,
                        VariantComparison* comparison = nullptr);
/// A function for the files of a kind.
using MakeSection = Section(const std::string& name, const std::string& path, const ReportOptions& options);
MakeSection mutagenesis_section, base_score_section, scan_section, coding_section, annotation_section;
MakeSection embedding_section, concordance_section, separation_section;
MakeSection score_summary_section, gene_summary_section, histogram_section;

/// Names of files for tables and axes, each of which is another one.
std::vector<std::string> short_names(const std::vector<std::string>& paths);
/// Several files side by side, at least two: one table of all of them, and the distributions of what they
/// have in common on one axis. `name` is its own. Takes the samples of their sections.
Section runs_section(const std::string& name, std::vector<Section>& files);

}  // namespace carbon
