// Draws genes above a logo or a map.

#include <algorithm>
#include <cmath>

#include "src/report/drawing/plot.hpp"
#include "src/report/drawing/theme.hpp"
#include "src/report/sources/genes.hpp"

namespace carbon {
namespace {

constexpr double kRow = 30, kName = 10, kMiddle = 20;  // heights in pixels: a row, the name in it, its line
constexpr size_t kMostRows = 6, kLongestName = 40;
constexpr double kArrows = 48;  // pixels between two arrows

struct PlacedGene {
  const Gene* gene;
  double from, to;  // in pixels, as far as it is in view
  std::string name;
  double name_at;  // where the name begins
};

// At most kLongestName letters, and no part of one.
std::string short_name(const std::string& name) {
  size_t letters = 0;
  for (size_t i = 0; i < name.size(); ++i)
    if ((static_cast<uint8_t>(name[i]) & 0xC0) != 0x80 && ++letters > kLongestName)
      return name.substr(0, i) + "\u2026";
  return name;
}

// The genes in view, row by row, so that none lies on another.
class GeneRows {
 public:
  GeneRows(const std::vector<Gene>& genes, int64_t first, const TrackView& view, double width)
      : place_(view, width), first_(first) {
    for (const Gene& gene : genes) {
      const double from = std::max(place_.left, x(gene.start)), to = std::min(place_.right, x(gene.end + 1));
      if (from < to) put(gene, from, to);
    }
  }

  double x(int64_t position) const { return place_.x(static_cast<double>(position - first_)); }
  const TrackLayout& place() const { return place_; }
  const std::vector<std::vector<PlacedGene>>& rows() const { return rows_; }
  size_t left_out() const { return left_out_; }

 private:
  void put(const Gene& gene, double from, double to) {
    PlacedGene placed = {&gene, from, to, short_name(gene.name), from};
    const double room = text_width(placed.name);
    placed.name_at = std::max(place_.left, std::min(from, place_.right - room));
    const double begin = std::min(from, placed.name_at), end = std::max(to, placed.name_at + room) + 10;
    for (size_t r = 0; r < kMostRows; ++r) {
      if (r == rows_.size()) {
        rows_.emplace_back();
        ends_.push_back(-1e9);
      }
      if (begin < ends_[r]) continue;
      ends_[r] = end;
      rows_[r].push_back(std::move(placed));
      return;
    }
    ++left_out_;
  }

  TrackLayout place_;
  int64_t first_;
  std::vector<std::vector<PlacedGene>> rows_;
  std::vector<double> ends_;
  size_t left_out_ = 0;
};

std::string boxes(const GeneRows& rows, const std::vector<GenePart>& parts, double middle, double height) {
  std::string path;
  for (const GenePart& part : parts) {
    const double from = std::max(rows.place().left, rows.x(part.start));
    const double to = std::min(rows.place().right, rows.x(part.end + 1));
    if (to > from) path += box_path(from, middle - height / 2, std::max(1.0, to - from), height);
  }
  return path;
}

void draw_gene(Svg& out, const GeneRows& rows, const PlacedGene& placed, double top) {
  const double middle = top + kMiddle;
  out.text(placed.name_at, top + kName, placed.name, {.anchor = Anchor::start});
  std::string line = "M" + px(placed.from) + " " + px(middle) + "H" + px(placed.to);
  if (placed.gene->strand == '+' || placed.gene->strand == '-') {
    const double point = placed.gene->strand == '+' ? 4 : -4;
    for (double x = placed.from + kArrows / 2; x < placed.to; x += kArrows)
      line += "M" + px(x) + " " + px(middle - 3) + "l" + px(point) + " 3l" + px(-point) + " 3";
  }
  out.stroke(line, theme::kMark);
  out.path(boxes(rows, placed.gene->exons, middle, 7), theme::kMark);
  out.path(boxes(rows, placed.gene->coding, middle, 14), theme::kMark);
}

}  // namespace

double gene_height(const std::vector<Gene>& genes, int64_t first, const TrackView& view, double width) {
  const GeneRows rows(genes, first, view, width);
  return kRow * static_cast<double>(rows.rows().size()) + (rows.left_out() > 0 ? 14 : 0);
}

void draw_genes(Svg& out, const std::vector<Gene>& genes, int64_t first, const TrackView& view, double width,
                double top) {
  const GeneRows rows(genes, first, view, width);
  for (const std::vector<PlacedGene>& row : rows.rows()) {
    for (const PlacedGene& placed : row) draw_gene(out, rows, placed, top);
    top += kRow;
  }
  if (rows.left_out() > 0)
    out.text(rows.place().left, top + 10, "and " + count_text(rows.left_out()) + " more genes",
             {.anchor = Anchor::start});
}

}  // namespace carbon
