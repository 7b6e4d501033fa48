// What all sections of tables of bases share: the pieces of the table and where it comes from, how a piece is
// spread over a figure, the genes beside it, and the data of the page's viewer.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/report/drawing/chart.hpp"
#include "src/report/drawing/track.hpp"
#include "src/report/sources/bases.hpp"
#include "src/report/sources/genes.hpp"
#include "src/report/sources/options.hpp"

namespace carbon {

struct BaseSection {
  Section section;
  TablePieces table;
  std::vector<std::vector<Gene>> genes;  // for each piece

  /// The beginning of the names of a piece's figures.
  std::string piece_name(size_t piece) const;
};

/// `what` ends the title, after the name of the file. Throws Error for a malformed table or file of genes.
BaseSection begin_base_section(const std::string& name, const std::string& path, const std::string& what,
                               const ReportOptions& options);

/// The genes of options.genes in these areas, at least one, for figures of `drawn` ("exons"). Without a
/// feature on any of their sequences, nothing but a warning and a paragraph, which calls the areas `where`.
std::optional<GeneFile> find_genes(const std::vector<GeneArea>& areas, const std::string& path,
                                   const ReportOptions& options, const std::string& drawn,
                                   const std::string& where, Section& section);

/// A part of a sequence, in bases of a track counted from 1, both ends included.
struct TrackMark {
  int64_t start = 1, end = 1;
  std::string name;
};

/// The exons of genes as marks of a piece, with the gene's name at the first.
std::vector<TrackMark> exon_marks(const std::vector<Gene>& genes, const TablePiece& piece);

inline constexpr size_t kMostLetters = 400;  // bases that are drawn as letters

/// How a piece is spread over a figure: in rows where its letters can be read, or as a whole.
struct PieceRows {
  double width = 980;  // of the figure, in pixels
  bool letters = true;
  std::vector<TrackView> views;  // one for each row, all of the same span

  /// Bases in a column that is at least one pixel wide.
  int64_t step() const { return TrackLayout(views[0], width).step; }
};

PieceRows rows_of(size_t length);

/// A picture of tracks below one another.
class TrackStack {
 public:
  explicit TrackStack(const PieceRows& rows)
      : width_(rows.width), left_(TrackLayout(rows.views[0], rows.width).left) {}

  /// A line of text, whose foot is `down` pixels further down.
  void heading(double down, std::string_view words);
  /// The genes in a part of a piece whose first base is at position `first`, with their names.
  void add_genes(const std::vector<Gene>& genes, int64_t first, const TrackView& view);
  /// What `draw` draws from the height 0 downwards.
  template <class Draw>
  void add(double height, Draw draw) {
    Svg track;
    draw(track);
    out_.add(track, 0, y_);
    y_ += height;
  }
  void add_legend(double limit, bool reference = true);
  std::string picture(const std::string& title) const { return out_.picture(width_, y_, title); }

 private:
  const double width_, left_;
  double y_ = 26;  // below the title
  Svg out_;
};
/// What a table of numbers says of a base, which is given by its place in the piece.
using BaseFields = std::vector<Field<size_t>>;
/// A chart of them with positions and letters before these fields, whose table is called `before`, the piece
/// and `after`.
Chart base_chart(const TablePiece& piece, const std::string& before, const std::string& after,
                 BaseFields fields);
/// Says that the last columns are the rows of a map; MultiQC draws maps of pieces that are not too long.
void add_map(Chart& chart, const std::vector<std::string>& rows, const TablePiece& piece);

/// A gene as a line with arrows in the direction of reading, its exons as boxes, and coding parts as boxes of
/// twice their height. `edge` is where a base begins.
void draw_gene(Svg& out, const Gene& gene, const std::function<double(int64_t)>& edge, double left,
               double right, double middle, double exon);
/// For the captions of figures that have genes.
inline constexpr const char* kGenesCaption =
    "Above, a line is a gene, a box an exon, a high box its coding part, and arrows show the direction in "
    "which it is read.";
/// Draws genes, with their names, above the frame of a chart along a sequence, which needs this height more.
double genes_height(const Plot& plot, const std::vector<Gene>& genes);
void draw_genes_above(Plot& plot, const std::vector<Gene>& genes);

inline constexpr size_t kMostViewerBases = 50'000;

/// {"name", "start", "sequence", "logp", "marks", "replaces"}: the position of the first base, the letters, a
/// row of four logarithms in five digits or null for each, parts to mark, and the names of figures whose
/// pictures the viewer shows.
std::string viewer_data(const std::string& name, const BaseTrack& track, std::span<const TrackMark> marks,
                        const std::string& replaces);

}  // namespace carbon
