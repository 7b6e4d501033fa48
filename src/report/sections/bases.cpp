#include "src/report/sections/bases.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "src/base/numbers.hpp"
#include "src/formats/contig_spelling.hpp"
#include "src/report/sections/sections.hpp"
#include "src/report/sources/input.hpp"

namespace carbon {
namespace {

void add_genes(BaseSection& out, const std::string& path, const ReportOptions& options) {
  out.genes.resize(out.table.pieces.size());
  if (options.genes.empty() || out.table.pieces.empty()) return;
  std::vector<GeneArea> areas;
  for (const TablePiece& piece : out.table.pieces)
    areas.push_back({piece.sequence, piece.first, piece.last()});
  auto file = find_genes(areas, path, options, "exons", "this table", out.section);
  if (!file) return;
  out.genes = std::move(file->genes);
  if (std::all_of(out.genes.begin(), out.genes.end(), [](const auto& genes) { return genes.empty(); }))
    out.section.paragraphs.push_back("No gene of " + file_name(options.genes) +
                                     " lies in the bases that are drawn.");
}

constexpr size_t kInRow = 100, kFewest = 30;   // bases in a row at most, and the span of one that has fewer
constexpr double kWidest = 16, kMargins = 58;  // pixels: a base, both margins

constexpr double kRow = 30, kName = 10, kMiddle = 20;  // heights in pixels: a row, the name in it, its line
constexpr double kMoreGenes = 14;                      // and of the line that counts further genes
constexpr size_t kMostGeneRows = 6, kLongestName = 40;
constexpr double kArrows = 48;  // pixels between two arrows

struct PlacedGene {
  const Gene* gene;
  std::string name;
  double name_at;  // where the name begins
};

// The genes in view, row by row, so that none lies on another.
class GeneRows {
 public:
  // `edge` is where a base begins.
  GeneRows(const std::vector<Gene>& genes, double left, double right, std::function<double(int64_t)> edge)
      : left_(left), right_(right), edge_(std::move(edge)) {
    for (const Gene& gene : genes) {
      const double from = std::max(left_, edge_(gene.start)), to = std::min(right_, edge_(gene.end + 1));
      if (from < to) put(gene, from, to);
    }
  }

  double height() const {
    return kRow * static_cast<double>(rows_.size()) + (left_out_ > 0 ? kMoreGenes : 0);
  }

  void draw(Svg& out, double top) const {
    for (const std::vector<PlacedGene>& row : rows_) {
      for (const PlacedGene& placed : row) {
        out.text(placed.name_at, top + kName, placed.name, {.anchor = Anchor::start});
        draw_gene(out, *placed.gene, edge_, left_, right_, top + kMiddle, 7);
      }
      top += kRow;
    }
    if (left_out_ > 0)
      out.text(left_, top + 10, "and " + plural(left_out_, "more gene"), {.anchor = Anchor::start});
  }

 private:
  void put(const Gene& gene, double from, double to) {
    PlacedGene placed = {&gene, cut_text(gene.name, kLongestName), from};
    const double room = text_width(placed.name);
    placed.name_at = std::max(left_, std::min(from, right_ - room));
    const double begin = std::min(from, placed.name_at), end = std::max(to, placed.name_at + room) + 10;
    for (size_t r = 0; r < kMostGeneRows; ++r) {
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

  double left_, right_;
  std::function<double(int64_t)> edge_;
  std::vector<std::vector<PlacedGene>> rows_;
  std::vector<double> ends_;
  size_t left_out_ = 0;
};

GeneRows gene_rows(const std::vector<Gene>& genes, const Plot& plot) {
  return {genes, plot.left(), plot.right(),
          [&plot](int64_t position) { return plot.x(static_cast<double>(position) - 0.5); }};
}

// Every how many bases a table of numbers has a row.
size_t numbers_step(size_t length) {
  return std::max<size_t>(1, (length + kMostRows - 1) / kMostRows);
}

constexpr int kDigits = 5;  // an error in a probability of at most a hundredth of a per cent

void append_row(const BaseTrack& track, size_t i, std::string& out) {
  if (!track.has_value(i)) {
    out += "null";
    return;
  }
  for (size_t k = 0; k < 4; ++k) {
    out += k == 0 ? '[' : ',';
    const double value = track.lnp[4 * i + k];
    if (std::isfinite(value))
      append_general(value, kDigits, out);
    else
      out += "null";  // a probability of zero
  }
  out += ']';
}

}  // namespace

std::string BaseSection::piece_name(size_t piece) const {
  return table.pieces.size() == 1 ? section.name : section.name + "_" + std::to_string(piece + 1);
}

Section begin_section(const std::string& name, const std::string& path, const std::string& what,
                      const std::vector<std::string>& header) {
  Section out;
  out.name = name;
  out.file = file_name(path);
  out.content = what;
  out.title = out.file + ": " + what;
  out.provenance = variant_provenance(path, header);
  out.models = model_sentences(header);
  return out;
}

BaseSection begin_base_section(const std::string& name, const std::string& path, const std::string& what,
                               const ReportOptions& options) {
  BaseSection out;
  out.table = read_pieces(path, options);
  out.section = begin_section(name, path, what, out.table.header);
  out.section.paragraphs = out.table.notes;
  add_genes(out, path, options);
  return out;
}

std::optional<GeneFile> find_genes(const std::vector<GeneArea>& areas, const std::string& path,
                                   const ReportOptions& options, const std::string& drawn,
                                   const std::string& where, Section& section) {
  GeneFile file = read_genes(options.genes, areas);
  if (!file.known_sequence) {
    const std::string words = no_sequence_words(file, areas[0].sequence);
    options.log->warning("report",
                         options.genes + ": no feature lies on a sequence of " + path + ", " + words);
    section.paragraphs.push_back("No " + drawn + " are drawn: " + file_name(options.genes) +
                                 " has no feature on a sequence of " + where + ", " + words +
                                 ". The names must be equal.");
    return std::nullopt;
  }
  if (!file.other_names.empty())
    options.log->warning("report", options.genes + ": it has no feature on " + file.other_names + "; " +
                                       std::string(kRenameContigs));
  section.provenance.emplace_back("Genes", file_name(options.genes));
  return file;
}

std::vector<TrackMark> exon_marks(const std::vector<Gene>& genes, const TablePiece& piece) {
  std::vector<TrackMark> marks;
  for (const Gene& gene : genes) {
    bool named = false;
    for (const GenePart& exon : gene.exons) {
      const int64_t start = std::max(exon.start, piece.first), end = std::min(exon.end, piece.last());
      if (start > end) continue;
      marks.push_back({start - piece.first + 1, end - piece.first + 1, named ? "" : gene.name});
      named = true;
    }
  }
  return marks;
}

PieceRows rows_of(size_t length) {
  PieceRows out;
  out.letters = length <= kMostLetters;
  const size_t rows = out.letters ? std::max<size_t>(1, (length + kInRow - 1) / kInRow) : 1;
  const size_t span = std::max(kFewest, (length + rows - 1) / rows);
  for (size_t r = 0; r < rows; ++r)
    out.views.push_back({static_cast<double>(r * span), static_cast<double>((r + 1) * span)});
  if (out.letters) out.width = std::min(kMargins + kWidest * static_cast<double>(span), out.width);
  return out;
}

Chart base_chart(const TablePiece& piece, const std::string& before, const std::string& after,
                 BaseFields fields) {
  const size_t step = numbers_step(piece.length());
  std::vector<size_t> bases;
  for (size_t i = 0; i < piece.length(); i += step) bases.push_back(i);
  fields.insert(
      fields.begin(),
      {{"Position", "", [&](size_t i) { return piece.first + static_cast<int64_t>(i); }, ChartColumn::count},
       {"Base", "", [&](size_t i) { return std::string(1, piece.letters[i]); }}});
  Chart out;
  out.table_title =
      before + piece.place() + after + (step == 1 ? "" : "; one base of " + std::to_string(step));
  out.columns = columns_of(bases, fields);
  out.x.label = "Position";
  return out;
}

void add_map(Chart& chart, const std::vector<std::string>& rows, const TablePiece& piece) {
  if (numbers_step(piece.length()) > 1) return;
  const size_t first = chart.columns.size() - rows.size();
  for (size_t k = 0; k < rows.size(); ++k)
    chart.series.push_back({.mark = Series::cells, .name = rows[k], .value = first + k});
}

void TrackStack::heading(double down, std::string_view words) {
  out_.text(left_, y_ + down, words, {.anchor = Anchor::start});
  y_ += 20;
}

void TrackStack::add_genes(const std::vector<Gene>& genes, int64_t first, const TrackView& view) {
  const TrackLayout place(view, width_);
  const GeneRows rows(genes, place.left, place.right,
                      [&](int64_t position) { return place.x(static_cast<double>(position - first)); });
  rows.draw(out_, y_);
  y_ += rows.height();
}

void TrackStack::add_legend(double limit, bool reference) {
  Svg legend;
  draw_heatmap_legend(legend, limit, reference);
  out_.add(legend, left_, y_);
  y_ += kHeatLegendHeight + 4;
}

void draw_gene(Svg& out, const Gene& gene, const std::function<double(int64_t)>& edge, double left,
               double right, double middle, double exon) {
  const auto boxes = [&](const std::vector<GenePart>& parts, double height) {
    std::string path;
    for (const GenePart& part : parts) {
      const double from = std::max(left, edge(part.start)), to = std::min(right, edge(part.end + 1));
      if (to > from) path += box_path(from, middle - height / 2, std::max(1.0, to - from), height);
    }
    out.path(path, theme::kMark);
  };
  const double from = std::max(left, edge(gene.start)), to = std::min(right, edge(gene.end + 1));
  std::string line = "M" + px(from) + " " + px(middle) + "H" + px(to);
  if (gene.strand == '+' || gene.strand == '-') {
    const double point = gene.strand == '+' ? 4 : -4;
    for (double x = from + kArrows / 2; x < to; x += kArrows)
      line += "M" + px(x) + " " + px(middle - 3) + "l" + px(point) + " 3l" + px(-point) + " 3";
  }
  out.stroke(line, theme::kMark);
  boxes(gene.exons, exon);
  boxes(gene.coding, 2 * exon);
}

double genes_height(const Plot& plot, const std::vector<Gene>& genes) {
  return gene_rows(genes, plot).height();
}

void draw_genes_above(Plot& plot, const std::vector<Gene>& genes) {
  const GeneRows rows = gene_rows(genes, plot);
  plot.above(rows.height(), [&](Svg& out, double top) { rows.draw(out, top); });
}

std::string viewer_data(const std::string& name, const BaseTrack& track, std::span<const TrackMark> marks,
                        const std::string& replaces) {
  std::string out = "{\"name\":" + json_text(name) + ",\"start\":" + std::to_string(track.first) +
                    ",\"sequence\":" + json_text(track.sequence) + ",\"replaces\":[" + json_text(replaces) +
                    "],\"marks\":[";
  for (const TrackMark& mark : marks)
    out += (&mark == marks.data() ? "{\"start\":" : ",{\"start\":") + std::to_string(mark.start) +
           ",\"end\":" + std::to_string(mark.end) + ",\"name\":" + json_text(mark.name) + "}";
  out += "],\"logp\":[";
  for (size_t i = 0; i < track.length(); ++i) {
    if (i > 0) out += ',';
    append_row(track, i, out);
  }
  return out + "]}";
}

}  // namespace carbon
