// Points that are too many to be told apart, as squares of a grid whose colours say how many each holds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "src/report/drawing/plot.hpp"

namespace carbon {

class Cloud {
 public:
  static constexpr size_t kMostDots = 5000;  // that are told apart in a picture
  static constexpr size_t kMostRows = 500;   // and in a table

  /// Points beyond the ends of an axis are in no square.
  Cloud(std::span<const double> x, std::span<const double> y, const Axis& x_axis, const Axis& y_axis)
      : x_(x), y_(y), x_axis_(x_axis), y_axis_(y_axis), fine_(cells(kFine)) {}

  uint64_t beyond() const { return beyond_; }
  /// The colours, each with its range of counts. `what` are the points: "alleles".
  std::vector<LegendEntry> legend(const std::string& what) const;
  void draw(Plot& plot) const;
  /// In a grid coarser than that of the picture: how many there are.
  Table numbers(const std::string& x_name, const std::string& y_name) const;
  /// The same as the data of a map.
  nlohmann::ordered_json map() const;

 private:
  static constexpr size_t kFine = 80, kCoarse = 20;  // squares of a side

  /// Rows of y, from below, of squares of x.
  std::vector<uint32_t> cells(size_t side);
  std::vector<uint32_t> coarse() const;
  size_t levels() const;  // of colour: one for each power of ten

  std::span<const double> x_, y_;
  const Axis &x_axis_, &y_axis_;
  uint64_t beyond_ = 0;
  std::vector<uint32_t> fine_;
};

}  // namespace carbon
