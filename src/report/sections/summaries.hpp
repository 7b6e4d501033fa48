// What sections of tables with a line for each of many things share: the histogram of a value, and the rows
// with the lowest.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
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
    return rows_.size() < most_ || (most_ > 0 && value < rows_.front().value);
  }
  /// After takes().
  void add(double value, Row row) {
    if (rows_.size() == most_) {
      std::pop_heap(rows_.begin(), rows_.end());
      rows_.pop_back();
    }
    rows_.push_back({value, count_, std::move(row)});
    std::push_heap(rows_.begin(), rows_.end());
  }

  uint64_t count() const { return count_; }
  bool empty() const { return rows_.empty(); }
  /// The lowest first.
  std::vector<Row> sorted() const {
    auto ranked = rows_;
    std::sort(ranked.begin(), ranked.end());
    std::vector<Row> out;
    for (auto& one : ranked) out.push_back(std::move(one.row));
    return out;
  }

 private:
  struct Ranked {
    double value;
    uint64_t number;
    Row row;
    bool operator<(const Ranked& other) const {
      return value != other.value ? value < other.value : number < other.number;
    }
  };

  size_t most_;
  uint64_t count_ = 0;
  std::vector<Ranked> rows_;  // a heap with the highest value on top
};

using TextRow = std::vector<std::string>;
TextRow texts_of(const SummaryLine& line);

/// A table of the rows with the lowest values of what `by` names, in column `sorted`, of all `count`.
Table lowest_table(Table rows, uint64_t count, const std::string& item, const std::string& by, size_t sorted);

/// Adds the histogram of at least one number, and keeps them for the comparison of files.
void add_histogram(const std::string& name, Sample sample, Section& section);

}  // namespace carbon
