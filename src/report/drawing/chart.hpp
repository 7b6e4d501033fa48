// A figure as data: columns of numbers, and which marks show which of them. From these follow the picture,
// the table of its numbers, the points that say what they are, and the plot of MultiQC with its own caption.
//
// A new figure is a Chart; only its section knows it.
#pragma once

#include <cmath>
#include <concepts>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/report/drawing/document.hpp"
#include "src/report/drawing/plot.hpp"

namespace carbon {

/// Dots that are told apart in a picture, and rows of a table of numbers that is shown on request.
inline constexpr size_t kMostDots = 5000, kMostRows = 500;

/// Numbers, or texts in their place, of the rows of a chart.
struct ChartColumn {
  std::string name = {};
  std::string about = {};
  std::vector<double> numbers = {};  // NaN where there is none
  std::vector<std::string> texts = {};
  /// Digits in the table: 6, all, all in groups of three, 12; or not in the table.
  enum Form { six, count, grouped, edge, hidden } form = six;

  std::vector<bool> empty = {};  // rows that have no value to miss, if there are such

  size_t size() const { return texts.empty() ? numbers.size() : texts.size(); }
  std::string text(size_t row) const;
};

/// What a row has in a column: a number, a text, or nothing that could be missed.
struct Cell {
  double number = NAN;
  std::optional<std::string> text = {};
  bool empty = false;

  Cell() : empty(true) {}
  template <class Number>
  requires std::integral<Number> || std::floating_point<Number> Cell(Number value)
      : number(static_cast<double>(value)) {}
  Cell(std::string words) : text(std::move(words)) {}
  Cell(const char* words) : text(words) {}
};

/// A column by what it says of a row: a member, or what a function makes of it.
template <class Row>
struct Field {
  std::string name, about = {};
  std::function<Cell(const Row&)> of;
  ChartColumn::Form form = ChartColumn::six;
};

/// A column for each field, with all rows.
template <class Row>
std::vector<ChartColumn> columns_of(const std::vector<Row>& rows, const std::vector<Field<Row>>& fields) {
  std::vector<ChartColumn> out;
  for (const Field<Row>& field : fields) {
    ChartColumn& column = out.emplace_back(ChartColumn{field.name, field.about, {}, {}, field.form});
    for (const Row& row : rows) {
      Cell cell = field.of(row);
      if (cell.text) {
        column.texts.push_back(std::move(*cell.text));
        continue;
      }
      column.numbers.push_back(cell.number);
      column.empty.push_back(cell.empty);
    }
  }
  return out;
}

/// 0 to count - 1: the numbers of rows, for fields that look up what they are.
std::vector<size_t> numbers_to(size_t count);

/// What is drawn of some columns.
struct Series {
  enum Mark {
    bars,   // one for each row of an axis of categories
    line,   // through the rows, or through `points`
    band,   // between the columns `low` and `value`
    dots,   // one for each row
    steps,  // a histogram: rows are bins, whose edges are the columns `x` and `x` + 1 of the chart
    range,  // a line from `low` to `value` for each row of an axis of categories
    cells   // in a picture of its own, and in MultiQC a row of a map
  } mark = line;
  std::string name = {};    // in MultiQC and the legend; "" for what is in neither
  std::string legend = {};  // another name for the legend
  std::string_view colour = theme::kSeries[0];
  size_t value = 0, low = 0;       // columns
  std::vector<Point> points = {};  // of a line that has no columns; either the picture has it or MultiQC
  std::optional<std::vector<size_t>> rows = {};  // of dots, if these are not all
  double size = 2, opacity = 1;                  // width of a line, radius of dots
  bool dashed = false;
  Marker marker = Marker::circle;
  std::string_view edge = {};  // an outline of steps, or of round dots
  int layer = 0;               // the higher lies on top, and of equal ones the first
  bool drawn = true;           // in the picture; else in MultiQC alone
  bool in_legend = true;
};

struct Chart {
  std::string name, title;
  double width = 760, height = 0;  // 0: by the number of categories
  Axis x = {}, y = {};
  std::vector<ChartColumn> columns = {};
  std::vector<Series> series = {};
  /// The column of x of lines and dots, or of the lower edges of steps; and that of the names of rows.
  size_t x_column = 0, names = 0;
  /// For the caption: what the numbers are; how the picture shows them, which MultiQC may do otherwise; and
  /// what they say.
  std::string what = {}, how = {}, facts = {};
  std::string words = {};                // for those who cannot see it
  std::vector<std::string> tips = {};    // of dots, one for each row
  std::vector<std::string> corner = {};  // lines in a lower corner
  Anchor corner_side = Anchor::end;
  bool rows_of_steps = false;            // y has a category for each series of steps, which fills its row
  std::string sample = {};               // in MultiQC, bars are parts of this one sample
  bool cloud = false;                    // too many dots are drawn as a Cloud; there is one series of dots
  std::string row = "row";               // what a row is
  size_t all_rows = 0;                   // if the columns have a part of them
  size_t most_multiqc = 0;               // rows, 0 for all. Of more, it and the table have an even sample,
  std::string first = {};                // or those that come first, and what these are: "lowest"
  std::vector<LegendEntry> legend = {};  // after those of the series
  std::string svg = {};                  // a picture that is no chart
  std::string table_title = {};          // of its numbers
  std::function<void(Plot&)> prepare = {}, above = {};  // a scale of colours; what no mark has
};

Figure figure_of(const Chart& chart);
/// A thin dashed line beside which values are seen, such as that of chance.
Series guide(std::vector<Point> points, std::string legend = {});
/// A table of columns, for numbers that no picture shows.
Table table_of(std::string title, const std::vector<ChartColumn>& columns);
template <class Row>
Table table_of(std::string title, const std::vector<Row>& rows, const std::vector<Field<Row>>& fields) {
  return table_of(std::move(title), columns_of(rows, fields));
}

/// Sentences behind one another; empty ones are left out.
std::string sentences(std::initializer_list<std::string> all);
/// The least and the most of some columns of a chart and of two values that the axis has in any case.
std::pair<double, double> ends_of(const Chart& chart, std::initializer_list<size_t> columns, double least,
                                  double most);
}  // namespace carbon
