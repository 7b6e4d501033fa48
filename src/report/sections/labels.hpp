// How a score separates alleles with labels: the distribution of both classes, ROC and precision-recall.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/report/drawing/document.hpp"
#include "src/report/sources/labels.hpp"
#include "src/report/sources/options.hpp"

namespace carbon {

/// The alleles that have both a score and a class, in the order of the file, which the bootstrap samples
/// depend on; and how many do not. No score is NaN. Takes five bytes for each allele, and drawing twelve
/// more.
struct LabelledScores {
  std::vector<float> scores;
  std::vector<bool> positive;
  uint64_t missing_score = 0, missing_label = 0, other_label = 0;
  bool low = false;  // by the header, low scores are those of positive alleles
};

/// Adds three figures and a table of the areas, whose values are those of +auroc; with one class alone a
/// paragraph that says so. `name` begins the names of the figures, `tag` is the score's.
void add_label_figures(const std::string& name, const std::string& tag, const LabelledScores& scores,
                       const ReportOptions& options, Section& section);

}  // namespace carbon
