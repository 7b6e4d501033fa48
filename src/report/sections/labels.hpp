// How a score separates alleles with labels: the distribution of both classes, ROC and precision-recall.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/report/drawing/document.hpp"
#include "src/report/drawing/plot.hpp"
#include "src/report/sources/options.hpp"
#include "src/report/sources/summaries.hpp"
#include "src/report/sources/variants.hpp"
#include "src/statistics/curves.hpp"

namespace carbon {

/// The alleles that have both a score and a class, in the order of the file, which the bootstrap samples
/// depend on; and how many do not. No score is NaN. Takes five bytes for each allele, and drawing twelve
/// more.
struct LabelledScores {
  std::vector<float> scores = {};
  std::vector<bool> positive = {};
  uint64_t missing_score = 0, missing_label = 0, other_label = 0;
  bool low = false;       // by the header, low scores are those of positive alleles
  bool high = false;      // by the header, high ones are
  std::string unit = {};  // of the scores
  ClassNames names = {};
};

/// The colours of the two classes, and of what is in neither.
inline constexpr std::array<std::string_view, 3> kClassColours = {theme::kSeries[1], theme::kSeries[0],
                                                                  theme::kReference};
/// Which of these an allele has.
inline size_t class_of(LabelJudge::Verdict verdict) {
  return std::min<size_t>(static_cast<size_t>(verdict), 2);
}

/// The table of how well a score separates a label, with counts below the measures.
Table measure_table(const std::string& score, const std::string& label,
                    const std::vector<NamedValue<SeparationMetric>>& measures,
                    const std::vector<NamedValue<uint64_t>>& counts);

/// How the label and the intervals of a file came about. `score` is "score" or "scores".
void add_label_provenance(const JudgedLabel& label, const char* score, Section& section);

/// A curve as it is drawn.
struct RocCurve {
  std::string name;  // of the score
  std::vector<Point> line;
  Rates rates;  // true positive rates
  ClassMetrics metrics;
  CurveIntervals intervals;
  ClassNames names;

  double auroc() const { return metrics.values[0]; }
};

/// Adds three figures and a table of the areas, whose values are those of +auroc; with one class alone a
/// paragraph that says so, and nothing is returned. `name` begins the names of the figures, `tag` is the
/// score's.
std::optional<RocCurve> add_label_figures(const std::string& name, const std::string& tag,
                                          const LabelledScores& scores, const ReportOptions& options,
                                          Section& section);

}  // namespace carbon
