// Draws the scores of alleles: a histogram of all, and one row for each group.
#pragma once

#include <string>
#include <vector>

#include "src/report/drawing/document.hpp"
#include "src/report/sections/distributions.hpp"

namespace carbon {

/// What a figure of a tag is about.
struct ScoreFigure {
  std::string name;    // of the figure
  std::string sample;  // the name of the file
  ScoreTag tag;
};

/// The histogram of all scores, at least one, with median and quartiles.
Figure score_histogram(const ScoreFigure& about, const ScoreGroup& all, const ScoreBins& bins);
/// A histogram for each group that has scores, at least one, one below the other, with median and quartiles.
/// `by` is what makes the groups, e.g. "FILTER".
Figure score_rows(const ScoreFigure& about, const std::string& by, const std::vector<ScoreGroup>& groups,
                  const ScoreBins& bins);

struct NamedGroups {
  std::string by;  // "" for all alleles together
  const std::vector<ScoreGroup>* groups;
};
/// Numbers of values, means, extremes and quartiles of all groups.
Table score_table(const ScoreTag& tag, const std::vector<NamedGroups>& all);

}  // namespace carbon
