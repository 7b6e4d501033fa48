#include "src/report/sections/pair_cloud.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "src/base/numbers.hpp"
#include "src/report/drawing/theme.hpp"

namespace carbon {
namespace {

constexpr size_t kFine = 80, kCoarse = 20;
// A legend keeps views of its colours, so they live as long as the program: from the palest to the darkest.
constexpr std::string_view kLevels[] = {"#cfe3f5", "#a9cde9", "#84b9e3", "#5a99d0",
                                        "#2f78bd", "#1d5a98", "#0c3c74", "#051f40"};

std::string digits(double value) {
  std::string out;
  append_general(value, 6, out);
  return out;
}

size_t level_of(uint32_t count) {
  size_t level = 0;
  for (; count >= 10; count /= 10) ++level;
  return std::min(level, std::size(kLevels) - 1);
}

// The levels that are used spread over all colours.
std::string_view colour_of(size_t level, size_t levels) {
  if (levels == 1) return kLevels[4];
  return kLevels[level * (std::size(kLevels) - 1) / (levels - 1)];
}

size_t cell_of(const Axis& axis, size_t side, double value) {
  const double at = (value - axis.least) / (axis.most - axis.least) * static_cast<double>(side);
  return static_cast<size_t>(std::clamp(at, 0.0, static_cast<double>(side - 1)));
}

}  // namespace

PairCloud::PairCloud(size_t count, std::function<Point(size_t)> point, const Axis& x, const Axis& y)
    : count_(count), point_(std::move(point)), x_(x), y_(y) {
  if (dots()) return;
  fine_ = cells(kFine);
  levels_ = level_of(*std::max_element(fine_.counts.begin(), fine_.counts.end())) + 1;
}

PairCloud::Cells PairCloud::cells(size_t side) const {
  Cells out{side, std::vector<uint32_t>(side * side)};
  for (size_t i = 0; i < count_; ++i) {
    const Point p = point_(i);
    ++out.counts[cell_of(y_, side, p.y) * side + cell_of(x_, side, p.x)];
  }
  return out;
}

double PairCloud::edge(const Axis& axis, size_t side, size_t i) const {
  return axis.least + (axis.most - axis.least) * static_cast<double>(i) / static_cast<double>(side);
}

std::vector<LegendEntry> PairCloud::legend() const {
  std::vector<LegendEntry> out;
  uint64_t from = 1;
  for (size_t level = 0; level < levels_; ++level, from *= 10) {
    const bool last = level + 1 == std::size(kLevels);
    out.push_back({count_text(from) + (last ? " or more" : "\u2013" + count_text(10 * from - 1)),
                   colour_of(level, levels_)});
  }
  if (!out.empty()) out.front().name += " alleles";
  return out;
}

void PairCloud::draw(Plot& plot) const {
  if (dots()) {
    std::vector<Point> points(count_);
    for (size_t i = 0; i < count_; ++i) points[i] = point_(i);
    plot.dots(points, theme::kLine, count_ > 1000 ? 1.5 : 2.2, count_ > 1000 ? 0.5 : 0.6);
    return;
  }
  // One element for each colour, and one box for neighbours that have the same.
  std::vector<std::string> paths(levels_);
  for (size_t row = 0; row < kFine; ++row)
    for (size_t begin = 0; begin < kFine;) {
      const uint32_t* counts = &fine_.counts[row * kFine];
      size_t end = begin + 1;
      if (counts[begin] > 0) {
        const size_t level = level_of(counts[begin]);
        while (end < kFine && counts[end] > 0 && level_of(counts[end]) == level) ++end;
        const double left = plot.x(edge(x_, kFine, begin)), top = plot.y(edge(y_, kFine, row + 1));
        paths[level] +=
            box_path(left, top, plot.x(edge(x_, kFine, end)) - left, plot.y(edge(y_, kFine, row)) - top);
      }
      begin = end;
    }
  for (size_t level = 0; level < levels_; ++level)
    if (!paths[level].empty()) plot.marks().path(paths[level], colour_of(level, levels_));
}

std::string PairCloud::about() const {
  return dots() ? "A dot is an allele." : "The colour of a square says how many alleles it holds.";
}

Table PairCloud::numbers(const std::string& x_name, const std::string& y_name) const {
  Table out;
  if (count_ <= kMostRows) {
    out.columns = {{x_name, "", true}, {y_name, "", true}};
    for (size_t i = 0; i < count_; ++i) out.rows.push_back({digits(point_(i).x), digits(point_(i).y)});
    return out;
  }
  out.columns = {{x_name + " from", "", true},
                 {x_name + " to", "", true},
                 {y_name + " from", "", true},
                 {y_name + " to", "", true},
                 {"Alleles", "in a grid coarser than that of the picture", true}};
  const Cells coarse = cells(kCoarse);
  for (size_t row = 0; row < kCoarse; ++row)
    for (size_t column = 0; column < kCoarse; ++column)
      if (const uint32_t count = coarse.counts[row * kCoarse + column])
        out.rows.push_back({digits(edge(x_, kCoarse, column)), digits(edge(x_, kCoarse, column + 1)),
                            digits(edge(y_, kCoarse, row)), digits(edge(y_, kCoarse, row + 1)),
                            std::to_string(count)});
  return out;
}

std::string PairCloud::multiqc(const std::string& id, const std::string& title) const {
  nlohmann::ordered_json out;
  nlohmann::ordered_json config = {{"id", "carbon_" + id + "_plot"},
                                   {"title", "carbon: " + title},
                                   {"xlab", x_.label},
                                   {"ylab", y_.label}};
  nlohmann::ordered_json data = nlohmann::ordered_json::object();
  if (dots()) {
    out["plot_type"] = "scatter";
    for (size_t i = 0; i < count_; ++i)
      data["allele " + std::to_string(i + 1)] = {{"x", point_(i).x}, {"y", point_(i).y}};
  } else {
    out["plot_type"] = "heatmap";
    config["zlab"] = "alleles";
    config["square"] = false;
    config["display_values"] = false;
    const Cells coarse = cells(kCoarse);
    for (size_t row = kCoarse; row-- > 0;) {
      nlohmann::ordered_json line = nlohmann::ordered_json::object();
      for (size_t column = 0; column < kCoarse; ++column)
        line[digits(edge(x_, kCoarse, column))] = coarse.counts[row * kCoarse + column];
      data[digits(edge(y_, kCoarse, row))] = std::move(line);
    }
  }
  out["pconfig"] = std::move(config);
  out["data"] = std::move(data);
  return out.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace carbon
