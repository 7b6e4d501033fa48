// The sections of carbon annotate: its genes along their sequences, at the height of their scores; and the
// probabilities of bases to be coding, on both strands, below the genes of --genes.

#include <algorithm>
#include <cmath>

#include "src/base/words.hpp"
#include "src/report/drawing/chart.hpp"
#include "src/report/sections/bases.hpp"
#include "src/report/sections/sections.hpp"
#include "src/report/sections/summaries.hpp"
#include "src/report/sources/genes.hpp"

namespace carbon {
namespace {

constexpr size_t kMostSequences = 6, kMostGenes = 2000;   // that are drawn, and genes on each of them
constexpr size_t kMostParts = 100'000;                    // coding parts of all genes that are drawn
constexpr size_t kWindows = 900;                          // points of a line
constexpr double kWidth = 980, kHeight = 300, kExon = 5;  // pixels
constexpr size_t kName = 40;                              // letters
constexpr double kCoding = 0.5;                           // above this a base is more likely coding than not
constexpr const char* kStrands[] = {"forward strand", "reverse strand"};

// ---- Genes

struct DrawnSequence {
  std::string name;
  int64_t length = 0;
  std::vector<AnnotatedGene> genes;
  size_t all = 0;  // genes, with those that are not drawn
};

std::string place_of(const AnnotatedGene& one) {
  return cut_text(one.sequence, kName) + ":" + count_text(static_cast<uint64_t>(one.gene.start)) + "-" +
         count_text(static_cast<uint64_t>(one.gene.end));
}

constexpr size_t kScoreColumn = 8, kMiddleColumn = 10;
const std::vector<Field<AnnotatedGene>> kGeneFields = {
    {"Gene", "", [](const AnnotatedGene& one) { return cut_text(one.gene.name, kName); }},
    {"Sequence", "", [](const AnnotatedGene& one) { return cut_text(one.sequence, kName); }},
    {"Start", "from 1", [](const AnnotatedGene& one) { return one.gene.start; }, ChartColumn::count},
    {"End", "", [](const AnnotatedGene& one) { return one.gene.end; }, ChartColumn::count},
    {"Strand", "", [](const AnnotatedGene& one) { return std::string(1, one.gene.strand); }},
    {"Status", "",
     [](const AnnotatedGene& one) { return one.run       ? "run"
                                           : one.partial ? "partial"
                                                         : "complete"; }},
    {"Exons", "", [](const AnnotatedGene& one) { return one.gene.coding.size(); }, ChartColumn::count},
    {"Coding bases", "", &AnnotatedGene::coding_bases, ChartColumn::count},
    {"Score", "mean probability of the coding bases", &AnnotatedGene::score},
    {"Lowest exon", "the smallest mean of an exon", &AnnotatedGene::least},
    {"Middle", "",
     [](const AnnotatedGene& one) { return static_cast<double>(one.gene.start + one.gene.end) / 2; },
     ChartColumn::hidden}};

Figure genes_figure(const std::string& name, const std::string& item, const DrawnSequence& on) {
  Chart out;
  out.name = name;
  out.title = (item == "gene" ? "Genes of " : "Runs of coding bases of ") + cut_text(on.name, kName);
  out.width = kWidth, out.height = kHeight;
  out.columns = columns_of(on.genes, kGeneFields);
  out.x_column = kMiddleColumn;
  std::vector<size_t> rows[2];
  int64_t last = 1;
  double least = kCoding;
  for (size_t i = 0; i < on.genes.size(); ++i) {
    const AnnotatedGene& one = on.genes[i];
    rows[one.gene.strand == '-'].push_back(i);
    out.tips.push_back(out.columns[0].texts[i] + "\n" + place_of(one) + ", " +
                       kStrands[one.gene.strand == '-'] + "\nscore: " + value_text(one.score) + "\n" +
                       plural(one.gene.coding.size(), "exon"));
    last = std::max(last, one.gene.end);
    least = std::min(least, one.score);
  }
  out.x = {.label = "Position on " + cut_text(on.name, kName),
           .least = 1,
           .most = static_cast<double>(std::max({on.length, last, int64_t{2}})),
           .positions = true};
  out.y = round_axis("Score", least, 1);
  for (size_t s = 0; s < 2; ++s)
    if (!rows[s].empty())
      out.series.push_back({.mark = Series::dots,
                            .name = kStrands[s],
                            .colour = theme::kSeries[s],
                            .value = kScoreColumn,
                            .rows = rows[s],
                            .size = 3});
  out.above = [&](Plot& plot) {
    for (const AnnotatedGene& one : on.genes)
      draw_gene(
          plot.marks(), one.gene, [&](int64_t base) { return plot.x(static_cast<double>(base) - 0.5); },
          plot.left(), plot.right(), plot.y(one.score), kExon);
  };
  out.row = item;
  out.all_rows = on.all;
  out.first = "first";
  const size_t more = on.all - on.genes.size();
  out.what = "Score of " + plural(on.genes.size(), item) + " of " + cut_text(on.name, kName) +
             ", which is the mean probability of the coding bases, by position.";
  if (more > 0) out.facts = count_text(more) + (more == 1 ? " more is not drawn." : " more are not drawn.");
  out.how = "Boxes are coding parts, lines between them introns, and arrows show the direction of reading.";
  const auto lowest = std::min_element(on.genes.begin(), on.genes.end(),
                                       [](const auto& a, const auto& b) { return a.score < b.score; });
  out.words = "The lowest score is " + value_text(lowest->score) + ", of " + lowest->gene.name + ".";
  return figure_of(out);
}

// What all genes of a file say in sum.
struct GeneTotals {
  uint64_t genes = 0, partial = 0, reverse = 0, exons = 0, sequences = 0;
  int64_t bases = 0;
  double score = 0;  // sum

  void add(const AnnotatedGene& one) {
    ++genes;
    partial += one.partial;
    reverse += one.gene.strand == '-';
    exons += one.gene.coding.size();
    bases += one.coding_bases();
    score += one.score;
  }

  double each(double sum) const { return sum / static_cast<double>(genes); }

  std::string words(const std::string& item, bool runs) const {
    return plural(genes, item) + " on " + plural(sequences, "sequence") + ": " +
           (runs ? "" : count_text(genes - partial) + " complete and " + count_text(partial) + " partial, ") +
           count_text(genes - reverse) + " on the forward strand and " + count_text(reverse) +
           " on the reverse one, with " + count_text(static_cast<uint64_t>(bases)) + " coding bases" +
           (runs ? "" : " in " + plural(exons, "exon")) +
           ". A score is the mean probability of the coding bases; it is not the probability that the " +
           (runs ? "run" : "gene") + " is right.";
  }
};

// ---- Probabilities

// The share of the bases of a piece that are more likely coding than not, of those with a value.
struct CodingShare {
  double bases = 0, coding[2] = {0, 0};

  void add(const TablePiece& piece) {
    for (const LetterLogs& values : piece.values)
      if (!std::isnan(values[0])) {
        ++bases;
        for (size_t s = 0; s < 2; ++s) coding[s] += values[s] > kCoding;
      }
  }
  double percent(size_t strand) const { return bases > 0 ? 100 * coding[strand] / bases : 0; }
  std::string words() const {
    return value_text(percent(0)) + " % on the forward strand, and " + value_text(percent(1)) +
           " % on the reverse one";
  }
};

Figure coding_figure(const std::string& name, const TablePiece& piece, std::vector<Gene> genes) {
  for (Gene& gene : genes)
    if (!gene.score.empty()) gene.name = cut_text(gene.name, kName - 12) + ", " + cut_text(gene.score, 8);
  const size_t step = std::max<size_t>(1, (piece.length() + kWindows - 1) / kWindows);
  Chart out;
  out.name = name + "_coding";
  out.title = "Coding probability of " + piece.place();
  out.width = kWidth, out.height = kHeight;
  struct Window {
    size_t begin, end;  // bases of the piece
    double from, to;    // their positions
  };
  std::vector<Window> windows;
  for (size_t i = 0; i < piece.length(); i += step) {
    const size_t end = std::min(i + step, piece.length());
    const double from = static_cast<double>(piece.first) + static_cast<double>(i);
    windows.push_back({i, end, from, from + static_cast<double>(end - i) - 1});
  }
  const auto mean = [&](size_t strand) {
    return [&piece, strand](const Window& one) {
      return mean_of(one.begin, one.end, [&](size_t i) { return piece.values[i][strand]; });
    };
  };
  out.columns = columns_of<Window>(
      windows,
      {{step > 1 ? "From" : "Position", "", &Window::from, ChartColumn::count},
       {"To", "", &Window::to, step > 1 ? ChartColumn::count : ChartColumn::hidden},
       {"Forward", "probability to be coding on the forward strand", mean(0)},
       {"Reverse", "probability to be coding on the reverse strand", mean(1)},
       {"Middle", "", [](const Window& one) { return (one.from + one.to) / 2; }, ChartColumn::hidden}});
  out.x_column = 4;
  out.x = {.label = "Position on " + cut_text(piece.sequence, kName),
           .least = static_cast<double>(piece.first),
           .most = static_cast<double>(std::max(piece.last(), piece.first + 1)),
           .positions = true};
  out.y = {.label = "Probability"};
  for (size_t s = 0; s < 2; ++s)
    out.series.push_back({.name = kStrands[s], .colour = theme::kSeries[s], .value = 2 + s, .size = 1.2});
  const Plot frame("", out.width, out.height, out.x, out.y);
  out.height += genes_height(frame, genes);
  out.prepare = [&](Plot& plot) { draw_genes_above(plot, genes); };
  out.row = step > 1 ? "window" : "base";
  out.what = "Probability of the bases of " + piece.place() + " to be coding, on each strand" +
             (step > 1 ? ", as means of " + count_text(step) + " bases." : ".");
  if (!genes.empty()) out.how = std::string(kGenesCaption) + " Beside a name stands the gene's score.";
  CodingShare share;
  share.add(piece);
  out.words = "Above a probability of 0.5 are " + share.words() + ".";
  return figure_of(out);
}

}  // namespace

Section annotation_section(const std::string& name, const std::string& path, const ReportOptions& options) {
  std::vector<float> scores;
  Lowest<AnnotatedGene> lowest(options.top);
  std::vector<DrawnSequence> drawn;
  GeneTotals totals;
  std::string sequence;
  size_t parts = 0;
  bool runs = false;
  const std::vector<std::string> header = read_annotation(path, [&](const AnnotatedGene& one) {
    if (totals.genes == 0 || one.sequence != sequence) {
      ++totals.sequences;
      sequence = one.sequence;
      if (drawn.size() < kMostSequences) drawn.push_back({one.sequence, one.length, {}, 0});
    }
    runs |= one.run;
    totals.add(one);
    scores.push_back(static_cast<float>(one.score));
    if (lowest.takes(one.score)) lowest.add(one.score, one);
    DrawnSequence& on = drawn.back();
    if (on.name != one.sequence) return;
    ++on.all;
    if (on.genes.size() == kMostGenes || parts + one.gene.coding.size() > kMostParts) return;
    parts += one.gene.coding.size();
    on.genes.push_back(one);
  });
  Section out = begin_section(name, path, runs ? "runs of coding bases" : "genes", header);
  if (totals.genes == 0) {
    out.paragraphs.emplace_back("The file has no gene.");
    return out;
  }
  const std::string item = runs ? "run" : "gene";
  out.paragraphs.push_back(totals.words(item, runs));
  std::erase_if(drawn, [](const DrawnSequence& on) { return on.genes.empty(); });
  if (totals.sequences > drawn.size())
    out.paragraphs.push_back("The first " + std::to_string(drawn.size()) + " of " +
                             plural(totals.sequences, "sequence") + " with genes are drawn.");
  out.statistics = {
      {item + "s", runs ? "Runs" : "Genes", runs ? "Runs of coding bases" : "Genes, complete and partial",
       static_cast<double>(totals.genes)},
      {"mean_score", "Mean score", "Mean score of " + item + "s", totals.each(totals.score)}};
  if (!runs) {
    const auto complete = static_cast<double>(totals.genes - totals.partial);
    out.statistics.push_back({"complete", "Complete (%)", "Complete genes (%)", 100 * totals.each(complete)});
    out.statistics.push_back(
        {"exons", "Exons", "Mean number of exons of a gene", totals.each(static_cast<double>(totals.exons))});
  }
  for (size_t i = 0; i < drawn.size(); ++i)
    out.parts.emplace_back(genes_figure(
        name + "_genes" + (drawn.size() > 1 ? "_" + std::to_string(i + 1) : ""), item, drawn[i]));
  add_histogram(name + "_scores", {"mean probability", "", item, std::move(scores)}, out);
  add_lowest(table_of("", lowest.sorted(), kGeneFields), lowest.count(), item, "score", kScoreColumn, out);
  return out;
}

Section coding_section(const std::string& name, const std::string& path, const ReportOptions& options) {
  BaseSection base = begin_base_section(name, path, "coding probabilities", options);
  const std::vector<TablePiece>& pieces = base.table.pieces;
  CodingShare all;
  for (size_t p = 0; p < pieces.size(); ++p) {
    all.add(pieces[p]);
    base.section.parts.emplace_back(coding_figure(base.piece_name(p), pieces[p], base.genes[p]));
  }
  if (all.bases == 0) return std::move(base.section);
  base.section.paragraphs.insert(
      base.section.paragraphs.begin(),
      plural(static_cast<size_t>(all.bases), "base") + " in " + plural(pieces.size(), "piece") +
          " of consecutive bases. More likely coding than not are " + all.words() + ".");
  base.section.statistics = {
      {"bases", "Bases", "Bases with probabilities", all.bases},
      {"coding_forward", "Coding, forward (%)", "Bases above 0.5, forward strand (%)", all.percent(0)},
      {"coding_reverse", "Coding, reverse (%)", "Bases above 0.5, reverse strand (%)", all.percent(1)}};
  return std::move(base.section);
}

}  // namespace carbon
