// What a report consists of: sections of text, figures and tables.
//
// All texts are plain: whoever writes them into another format escapes them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "src/base/letters.hpp"

namespace carbon {

// Names of sections, figures and rows, each used once in a report.

/// A text of a file with _ for each character that is neither a letter of ASCII, a digit, nor one of `also`.
inline std::string plain_name(std::string_view text, std::string_view also = "") {
  std::string out(text);
  for (char& c : out)
    if (!is_letter_or_digit(c) && also.find(c) == also.npos) c = '_';
  return out;
}
/// Names that are taken, each with how often it was asked for.
using TakenNames = std::unordered_map<std::string, size_t>;
/// The name itself, or if it is taken with a number: name_2. It is taken from now on.
inline std::string free_name(const std::string& name, TakenNames& taken, const std::string& before = "_",
                             const std::string& after = "") {
  size_t copies = taken[name];
  std::string out = name;
  // Thousands of records can be equal: the search goes on where the last one ended.
  for (; copies > 0 && taken.contains(out); ++copies)
    out = name + before + std::to_string(copies + 1) + after;
  taken[name] = std::max<size_t>(copies, 1);
  taken.try_emplace(out, 1);
  return out;
}

struct TableColumn {
  std::string name;
  std::string about = {};  // what the values are, with their unit
  bool number = false;     // aligned to the right, and sorted by value
};

/// Of a table with columns 1 to 3 of sensitivities, specificities and predictive values: the page computes
/// the values at another share of positives, too.
struct PredictiveValues {
  double share = 0;      // of positives in the data, for which the values are written
  std::string positive;  // what positives are called
};

struct Table {
  std::string title;
  std::vector<TableColumn> columns;
  std::vector<std::vector<std::string>> rows;  // as many texts as columns
  std::vector<std::string> pictures = {};      // one complete SVG for each row, or none at all
  /// For each row a name of its own by which others can link to it, or none at all. `addressed` is the column
  /// that has this link.
  std::vector<std::string> addresses = {};
  size_t addressed = 0;
  /// For each of the first rows data for the viewer, as Figure::viewer, or "", or none at all.
  std::vector<std::string> loci = {};
  /// For each row pages of other sites, each a name and an address, or none at all.
  std::vector<std::vector<std::pair<std::string, std::string>>> links = {};
  bool search = false;  // with a box to search in
  int sorted = -1;      // the column by which the rows are sorted, the lowest first
  std::optional<PredictiveValues> predictive = {};
  bool descending = false;  // the highest first
  std::string brief = {};   // what the contents call it; "" for the title
};

/// A point of a figure and what it stands for, shown where the pointer is near. In pixels of the picture.
struct FigurePoint {
  double x = 0, y = 0;
  std::string words;
};

/// Where the positions of a figure lie, so that the page can stretch them.
struct PositionAxis {
  double left = 0, right = 0, bottom = 0;                  // of the frame, in pixels of the picture
  double least = 0, most = 0;                              // positions at its left and right end
  std::vector<std::pair<double, std::string>> ticks = {};  // in the place of round numbers
};

struct Picture {
  std::string svg;                        // complete, it stands alone
  std::vector<FigurePoint> points = {};   // none where there would be too many
  std::optional<PositionAxis> axis = {};  // of a picture that the page can stretch along its positions
};

/// The same figure in another way, which is shown on request, with the same points in the same order.
struct OtherPicture : Picture {
  std::string name;   // after that of the figure, for its file
  std::string title;  // what is other
};

struct Figure : Picture {
  std::string name;  // of its file: letters, digits and _; used once in a report
  std::string title;
  std::string caption;  // what is drawn, with units and numbers of values
  std::string words;    // what there is to see, for those who cannot
  Table numbers = {};   // the values that are drawn; shown on request
  /// Data for the page's viewer of logos and maps, as JSON: {"name", "start", "sequence", "logp"} with one
  /// row of four natural logarithms, or null, for each base; "" if the picture is all there is.
  std::string viewer = {};
  std::optional<OtherPicture> other = {};
  /// The same values as a plot of MultiQC, as JSON: {"plot_type", "pconfig", "data"}; "" for none.
  std::string multiqc = {};
  std::string multiqc_caption = {};  // what that plot shows; "" for the caption
};

/// A number that says something of a whole file, for a table of many files.
struct Statistic {
  std::string key, title, about;  // `title` is the head of its column
  double value = 0;
};

/// A number for each item of a file, to be drawn beside those of other files.
struct Sample {
  std::string name, unit;     // of the numbers
  std::string item;           // what has one: "alternative allele"
  std::vector<float> values;  // none is NaN
  uint64_t missing = 0;       // items without a number
};

struct Section {
  std::string name;  // letters, digits and _; used once in a report
  std::string title;
  std::string file, content;  // its name, and what it has, for a table of all files
  std::vector<std::string> paragraphs;
  std::vector<std::variant<Figure, Table>> parts;
  /// How the file was made, from its own header: pairs of what it is and its value.
  std::vector<std::pair<std::string, std::string>> provenance;
  /// What has scored the file, in sentences for the head of the page.
  std::vector<std::string> models = {};
  std::vector<Statistic> statistics = {};
  std::optional<Sample> sample = {};
};

struct Report {
  std::string title;
  std::vector<Section> sections;
};

}  // namespace carbon
