// How far two scores of the same alleles agree: scatter and Bland-Altman plot.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/report/drawing/document.hpp"

namespace carbon {

/// Keeps every pair, because the rank correlation needs them all: 16 bytes each, and about 30 more in
/// finish().
class AgreementFigures {
 public:
  /// Two scores of one allele, neither of them NaN. Infinite ones are counted and left out.
  void add(double a, double b);
  /// Adds two figures and a table of the measures, whose values are those of +concord and scipy; without two
  /// pairs a paragraph that says so. `name` begins the names of the figures.
  void finish(const std::string& name, const std::string& tag_a, const std::string& tag_b, Section& section);

 private:
  struct Both {
    double a, b;
  };
  std::vector<Both> pairs_;
  uint64_t infinite_ = 0;
};

}  // namespace carbon
