// How far two scores of the same alleles agree: scatter and Bland-Altman plot.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "src/report/drawing/document.hpp"
#include "src/report/drawing/plot.hpp"

namespace carbon {

/// Many points of a chart: dots while they are few, else squares whose colours say how many points they hold.
class PairCloud {
 public:
  static constexpr size_t kMostDots = 5000, kMostRows = 500;

  /// `point` gives the i-th of `count` points. The axes hold all of them.
  PairCloud(size_t count, std::function<Point(size_t)> point, const Axis& x, const Axis& y);

  bool dots() const { return count_ <= kMostDots; }
  /// The squares' colours, each with its range of counts; nothing for dots.
  std::vector<LegendEntry> legend() const;
  void draw(Plot& plot) const;
  /// What the marks are, for a caption.
  std::string about() const;
  /// The points, or in a coarser grid how many there are.
  Table numbers(const std::string& x_name, const std::string& y_name) const;
  /// The same as a plot of MultiQC.
  std::string multiqc(const std::string& id, const std::string& title) const;

 private:
  struct Cells {
    size_t side;
    std::vector<uint32_t> counts;  // rows of y, from below, of cells of x
  };
  Cells cells(size_t side) const;
  double edge(const Axis& axis, size_t side, size_t i) const;

  size_t count_;
  std::function<Point(size_t)> point_;
  Axis x_, y_;
  Cells fine_;         // empty for dots
  size_t levels_ = 0;  // of colour: one for each power of ten
};

/// Keeps every pair, because the rank correlation needs them all: 16 bytes each, and about 30 more in
/// finish().
class AgreementFigures {
 public:
  /// Two scores of one allele, neither of them NaN. Infinite ones are counted and left out.
  /// `name` says what the allele is, for those who point at it; it is kept while dots are drawn.
  void add(double a, double b, const std::string& name = "");
  /// Adds two figures and a table of the measures, whose values are those of +concord and scipy; without two
  /// pairs a paragraph that says so. `name` begins the names of the figures.
  /// `unit` is that of both.
  void finish(const std::string& name, const std::string& tag_a, const std::string& tag_b, Section& section,
              const std::string& unit = "");

 private:
  struct Both {
    double a, b;
  };
  std::vector<Both> pairs_;
  std::vector<std::string> names_;
  uint64_t infinite_ = 0;
};

}  // namespace carbon
