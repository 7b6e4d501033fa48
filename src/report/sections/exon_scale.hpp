// A scale along a gene on which exons keep their lengths and introns are shortened, so that what is in exons
// has room.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "src/report/sources/genes.hpp"

namespace carbon {

class ExonScale {
 public:
  static constexpr int64_t kSplice = 20;  // bases of an intron next to each exon that keep their length

  explicit ExonScale(const Gene& gene);

  /// Whether the gene has exons, and becomes shorter by a third or more.
  bool worth_it() const { return parts_.size() > 1 && length_ < 2.0 / 3 * bases_; }
  /// Where a base begins, in bases of the scale from 0. Bases outside of the gene have the place of its ends.
  double edge(int64_t base) const;
  double length() const { return length_; }
  /// Where the first base of each exon begins, and its position.
  std::vector<std::pair<double, std::string>> ticks() const;

 private:
  struct Part {
    int64_t start = 1;  // its first base; it ends where the next one starts
    double at = 0;      // where this begins
    double unit = 1;    // how much a base takes
  };

  std::vector<Part> parts_;
  std::vector<int64_t> exons_;  // their first bases
  double bases_ = 0, length_ = 0;
};

}  // namespace carbon
