// The files beside a report: each figure as an SVG, and as a plot of MultiQC.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "src/files/output.hpp"
#include "src/report/drawing/document.hpp"

namespace carbon {

/// Files that appear together, when all of them are complete.
class FileSet {
 public:
  /// Throws Error if the file cannot be written.
  void add(const std::string& path, std::string_view bytes);
  void commit();

 private:
  std::vector<std::unique_ptr<TextOutput>> files_;
};

/// A file NAME.svg in `folder`, which is made if it is missing, for each figure.
void add_svg_files(const Report& report, const std::string& folder, FileSet& files);
/// A file carbon_NAME_mqc.json for each figure that has a plot, in the form of MultiQC's custom content.
void add_multiqc_files(const Report& report, const std::string& folder, FileSet& files);

}  // namespace carbon
