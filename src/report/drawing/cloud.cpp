#include "src/report/drawing/cloud.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "src/base/words.hpp"

namespace carbon {
namespace {

// A legend keeps views of its colours, so they live as long as the program: from the palest to the darkest.
constexpr std::string_view kLevels[] = {"#cfe3f5", "#a9cde9", "#84b9e3", "#5a99d0",
                                        "#2f78bd", "#1d5a98", "#0c3c74", "#051f40"};

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

double edge(const Axis& axis, size_t side, size_t i) {
  return axis.least + (axis.most - axis.least) * static_cast<double>(i) / static_cast<double>(side);
}

size_t cell_of(const Axis& axis, size_t side, double value) {
  const double at = (value - axis.least) / (axis.most - axis.least) * static_cast<double>(side);
  return static_cast<size_t>(std::clamp(at, 0.0, static_cast<double>(side - 1)));
}

}  // namespace

std::vector<uint32_t> Cloud::cells(size_t side) {
  std::vector<uint32_t> out(side * side);
  beyond_ = 0;
  for (size_t i = 0; i < x_.size(); ++i) {
    if (x_axis_.holds(x_[i]) && y_axis_.holds(y_[i]))
      ++out[cell_of(y_axis_, side, y_[i]) * side + cell_of(x_axis_, side, x_[i])];
    else
      ++beyond_;
  }
  return out;
}

// Each square of the coarse grid is made of whole squares of the fine one.
std::vector<uint32_t> Cloud::coarse() const {
  constexpr size_t part = kFine / kCoarse;
  std::vector<uint32_t> out(kCoarse * kCoarse);
  for (size_t row = 0; row < kFine; ++row)
    for (size_t column = 0; column < kFine; ++column)
      out[row / part * kCoarse + column / part] += fine_[row * kFine + column];
  return out;
}

size_t Cloud::levels() const {
  return level_of(*std::max_element(fine_.begin(), fine_.end())) + 1;
}

std::vector<LegendEntry> Cloud::legend(const std::string& what) const {
  std::vector<LegendEntry> out;
  uint64_t from = 1;
  for (size_t level = 0; level < levels(); ++level, from *= 10) {
    const bool last = level + 1 == std::size(kLevels);
    out.push_back({count_text(from) + (last ? " or more" : "\u2013" + count_text(10 * from - 1)),
                   colour_of(level, levels())});
  }
  out.front().name += " " + what;
  return out;
}

// One element for each colour, and one box for neighbours that have the same.
void Cloud::draw(Plot& plot) const {
  std::vector<std::string> paths(levels());
  for (size_t row = 0; row < kFine; ++row)
    for (size_t begin = 0; begin < kFine;) {
      const uint32_t* counts = &fine_[row * kFine];
      size_t end = begin + 1;
      if (counts[begin] > 0) {
        const size_t level = level_of(counts[begin]);
        while (end < kFine && counts[end] > 0 && level_of(counts[end]) == level) ++end;
        const double left = plot.x(edge(x_axis_, kFine, begin)), top = plot.y(edge(y_axis_, kFine, row + 1));
        paths[level] += box_path(left, top, plot.x(edge(x_axis_, kFine, end)) - left,
                                 plot.y(edge(y_axis_, kFine, row)) - top);
      }
      begin = end;
    }
  for (size_t level = 0; level < paths.size(); ++level)
    if (!paths[level].empty()) plot.marks().path(paths[level], colour_of(level, paths.size()));
}

Table Cloud::numbers(const std::string& x_name, const std::string& y_name) const {
  Table out;
  out.columns = {{x_name + " from", "", true},
                 {x_name + " to", "", true},
                 {y_name + " from", "", true},
                 {y_name + " to", "", true},
                 {"Alleles", "in a grid coarser than that of the picture", true}};
  const std::vector<uint32_t> counts = coarse();
  for (size_t row = 0; row < kCoarse; ++row)
    for (size_t column = 0; column < kCoarse; ++column)
      if (const uint32_t count = counts[row * kCoarse + column])
        out.rows.push_back({six_digits(edge(x_axis_, kCoarse, column)),
                            six_digits(edge(x_axis_, kCoarse, column + 1)),
                            six_digits(edge(y_axis_, kCoarse, row)),
                            six_digits(edge(y_axis_, kCoarse, row + 1)), std::to_string(count)});
  return out;
}

nlohmann::ordered_json Cloud::map() const {
  nlohmann::ordered_json out;
  const std::vector<uint32_t> counts = coarse();
  for (size_t row = kCoarse; row-- > 0;) {
    nlohmann::ordered_json line = nlohmann::ordered_json::object();
    for (size_t column = 0; column < kCoarse; ++column)
      line[six_digits(edge(x_axis_, kCoarse, column))] = counts[row * kCoarse + column];
    out[six_digits(edge(y_axis_, kCoarse, row))] = std::move(line);
  }
  return out;
}

}  // namespace carbon
