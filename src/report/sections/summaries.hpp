// What sections of tables with a line for each of many things share: the histogram of a value, and the rows
// with the lowest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "src/report/sections/distributions.hpp"
#include "src/report/sources/summaries.hpp"

namespace carbon {

/// Keeps `most` rows; among equal values the earlier rank before the later. No value is NaN.
template <class Row>
class Lowest {
 public:
  explicit Lowest(size_t most) : most_(most) {}

  /// Whether the next row, with this value, would be kept. Counts it.
  bool takes(double value) {
    ++count_;
    return rows_.size() < most_ || (most_ > 0 && value < rows_.rbegin()->first);
  }
  /// After takes().
  void add(double value, Row row) {
    rows_.emplace(value, std::move(row));
    if (rows_.size() > most_) rows_.erase(std::prev(rows_.end()));
  }

  uint64_t count() const { return count_; }
  bool empty() const { return rows_.empty(); }
  /// The lowest first.
  std::vector<Row> sorted() const {
    std::vector<Row> out;
    for (const auto& [value, row] : rows_) out.push_back(row);
    return out;
  }

 private:
  size_t most_;
  uint64_t count_ = 0;
  std::multimap<double, Row> rows_;  // which keeps equal values in their order
};

using TextRow = std::vector<std::string>;
TextRow texts_of(const SummaryLine& line);

/// Adds the table of the rows with the lowest values of what `by` names, in column `sorted`, of all `count`;
/// nothing without rows.
void add_lowest(Table rows, uint64_t count, const std::string& item, const std::string& by, size_t sorted,
                Section& section);

/// Adds the histogram of at least one number, and keeps them for the comparison of files.
void add_histogram(const std::string& name, Sample sample, Section& section);

}  // namespace carbon
