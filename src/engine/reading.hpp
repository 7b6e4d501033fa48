// What one head reads from the rows of a sequence, for the requests that ask for the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "src/engine/request.hpp"

namespace carbon {

struct Reading {
  Reading(const Request& request, size_t first_row)
      : head(request.head), layer(request.layer), targets(request.targets), want_begin(first_row) {}

  HeadKind head;
  int layer;
  std::vector<uint32_t> targets;  // as those of the requests
  size_t want_begin;              // tokens of the run: rows from here on are read

  // Results so far.
  std::shared_ptr<std::vector<double>> values = std::make_shared<std::vector<double>>();
  std::vector<float> states;
  std::vector<double> sums;  // for mean_hidden; empty without a row
  size_t summed = 0;         // rows in `sums`
  bool finite = true;        // true while all of them are finite

  bool serves(const Request& request) const {
    return head == request.head && layer == request.layer && targets == request.targets;
  }
  /// Keeps what the head gives for row `row`, counted from want_begin, and those after it. Rows that are
  /// there already come again after a pass that failed, with the same bits.
  void keep_values(size_t row, size_t width, std::span<const double> more);
  void keep_states(size_t row, size_t width, std::span<const float> more);
  /// For mean_hidden: after how many rows that are not in `sums` yet their sums are wanted, if row end - 1 is
  /// the last that is there. None if all are in them.
  std::vector<uint32_t> counts(size_t end) const;
  /// Keeps what counts() asked for, of counts().size() * width numbers. Each sum is over the rows in their
  /// order, so it does not depend on how they were divided among passes.
  void keep_sums(std::span<const uint32_t> counts, std::span<const double> more);
  /// Called after the last row: adds the mean over all rows to the states of mean_hidden.
  void end();
  /// Forgets all results.
  void clear();

 private:
  void add_mean();
};

}  // namespace carbon
