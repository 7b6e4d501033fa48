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

/// A table of the rows with the lowest values of what `by` names, in column `sorted`, of all `count`.
Table lowest_table(Table rows, uint64_t count, const std::string& item, const std::string& by, size_t sorted);

/// Adds the histogram of at least one number, and keeps them for the comparison of files.
void add_histogram(const std::string& name, Sample sample, Section& section);

}  // namespace carbon
