// What sections of tables with a line for each of many things share: the section itself, the histogram of a
// value, and the rows with the lowest.
#pragma once

#include <string>
#include <vector>

#include "src/report/sections/distributions.hpp"
#include "src/report/sections/lowest.hpp"
#include "src/report/sources/summaries.hpp"

namespace carbon {

using TextRow = std::vector<std::string>;
TextRow texts_of(const SummaryLine& line);

/// The rows with the lowest values of what `by` names, in column `sorted`.
Table lowest_table(const Lowest<TextRow>& rows, const std::string& item, const std::string& by,
                   std::vector<TableColumn> columns, size_t sorted);

/// Of at least one value, none of them NaN. Changes their order.
Figure histogram_of(const ScoreFigure& about, std::vector<float>& values);

}  // namespace carbon
