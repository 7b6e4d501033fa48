#include "src/report/sections/gene_track.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "src/base/words.hpp"
#include "src/formats/contig_spelling.hpp"
#include "src/report/drawing/plot.hpp"
#include "src/report/drawing/svg.hpp"
#include "src/report/sections/distributions.hpp"
#include "src/report/sources/input.hpp"

namespace carbon {
namespace {

constexpr size_t kFirstPlaces = 100;  // alleles among whose genes those to draw are chosen
constexpr size_t kMostDots = 5000, kMostNumbers = 500;
constexpr size_t kName = 40;                               // letters of a gene's name
constexpr double kWidth = 980, kHeight = 340, kFoot = 26;  // pixels; kFoot has the exons
constexpr double kExon = 8, kCoding = 16, kArrows = 48;
constexpr double kOpacity = 0.7;

// Of the classes of a label, and of what is in neither. The second is that of all alleles if there is no
// label.
constexpr std::string_view kColours[] = {theme::kSeries[1], theme::kSeries[0], theme::kReference};

constexpr size_t kOrder[] = {2, 1, 0};  // of drawing: classes lie upon those that are in neither

size_t class_of(uint32_t verdict) {
  return std::min<size_t>(verdict, 2);
}

std::string place_text(const std::string& contig, int64_t pos) {
  return contig + ":" + count_text(static_cast<uint64_t>(pos));
}

std::string boxes(const Plot& plot, const std::vector<GenePart>& parts, double middle, double height) {
  std::string path;
  for (const GenePart& part : parts) {
    const double from = std::max(plot.left(), plot.x(static_cast<double>(part.start) - 0.5));
    const double to = std::min(plot.right(), plot.x(static_cast<double>(part.end) + 0.5));
    if (to > from) path += box_path(from, middle - height / 2, std::max(1.0, to - from), height);
  }
  return path;
}

// At the foot of the frame: the gene as a line with arrows in the direction of reading, exons as boxes, and
// coding parts as higher ones.
void draw_gene(Plot& plot, const Gene& gene) {
  const double middle = plot.bottom() - kFoot / 2;
  const double from = plot.x(static_cast<double>(gene.start)), to = plot.x(static_cast<double>(gene.end));
  std::string line = "M" + px(from) + " " + px(middle) + "H" + px(to);
  if (gene.strand == '+' || gene.strand == '-') {
    const double point = gene.strand == '+' ? 4 : -4;
    for (double x = from + kArrows / 2; x < to; x += kArrows)
      line += "M" + px(x) + " " + px(middle - 3) + "l" + px(point) + " 3l" + px(-point) + " 3";
  }
  plot.marks().stroke(line, theme::kMark);
  plot.marks().path(boxes(plot, gene.exons, middle, kExon), theme::kMark);
  plot.marks().path(boxes(plot, gene.coding, middle, kCoding), theme::kMark);
}

// Many alleles: in each column of pixels a bar from the lowest to the highest score.
void draw_ranges(Plot& plot, const std::vector<Point>& points) {
  struct Range {
    double low = 0, high = 0;
    bool any = false;
  };
  std::vector<Range> columns(static_cast<size_t>(plot.right() - plot.left()) + 1);
  for (const Point& p : points) {
    Range& one =
        columns[static_cast<size_t>(std::clamp(plot.x(p.x) - plot.left(), 0.0, plot.right() - plot.left()))];
    one.low = one.any ? std::min(one.low, p.y) : p.y;
    one.high = one.any ? std::max(one.high, p.y) : p.y;
    one.any = true;
  }
  std::string path;
  for (size_t i = 0; i < columns.size(); ++i)
    if (columns[i].any)
      path += box_path(plot.left() + static_cast<double>(i), plot.y(columns[i].high) - 0.5, 1,
                       plot.y(columns[i].low) - plot.y(columns[i].high) + 1);
  plot.marks().path(path, theme::kLine);
}

// The figure of one gene.
class GeneFigure {
 public:
  // `alleles` are those in the gene, at least one, the lowest (or highest) score first.
  GeneFigure(const VariantLayout& layout, const std::string& label, const std::string& contig,
             const Gene& gene, const std::vector<GeneAllele>& alleles)
      : tag_(layout.tags[0]),
        label_(label),
        contig_(contig),
        gene_(gene),
        alleles_(alleles),
        gene_name_(cut_text(gene.name.empty() ? "a gene without a name" : gene.name, kName)),
        classes_{cut_text(layout.classes.positive, kName),
                 label.empty() ? "alleles" : cut_text(layout.classes.negative, kName), "neither"} {}

  Figure figure(const std::string& name) const {
    Figure out;
    out.name = name;
    out.title = tag_.name + " along " + gene_name_;
    draw(out);
    out.caption = caption();
    out.words = "The " + std::string(tag_.extreme()) + " score is " + value_text(score(alleles_.front())) +
                " at " + place_text(contig_, alleles_.front().pos) + ".";
    out.numbers = numbers();
    out.multiqc = multiqc(out.name, out.title);
    return out;
  }

 private:
  static double score(const GeneAllele& allele) { return static_cast<double>(allele.score); }
  static Point point(const GeneAllele& allele) { return {static_cast<double>(allele.pos), score(allele)}; }
  bool labelled() const { return !label_.empty(); }
  bool dots() const { return alleles_.size() <= kMostDots; }
  size_t shown_class(const GeneAllele& allele) const { return labelled() ? class_of(allele.verdict) : 1; }

  Axis x_axis() const {
    Axis out{"Position on " + cut_text(contig_, kName),
             static_cast<double>(gene_.start),
             static_cast<double>(gene_.end),
             false,
             {},
             true};
    if (gene_.start == gene_.end) out.least -= 1, out.most += 1;
    return out;
  }

  // With zero, and room for the exons below the lowest score.
  Axis y_axis() const {
    const auto [low, high] = std::minmax({score(alleles_.front()), score(alleles_.back())});
    const double least = std::min(0.0, low), most = std::max(0.0, high);
    Axis out = round_axis(with_unit(tag_.name, tag_.unit), least, most);
    out.least -= std::max((most - least) * kFoot / (kHeight - 120), 1e-6);
    return out;
  }

  void draw(Figure& out) const {
    const Axis x = x_axis();
    Plot plot(out.title, kWidth, kHeight, x, y_axis());
    std::vector<Point> all, points[3];
    for (const GeneAllele& allele : alleles_) {
      all.push_back(point(allele));
      points[shown_class(allele)].push_back(all.back());
    }
    std::vector<LegendEntry> legend;
    for (const size_t k : kOrder)
      if (dots() && !points[k].empty())
        legend.push_back({.name = classes_[k] + ", n = " + count_text(points[k].size()),
                          .colour = kColours[k],
                          .mark = LegendEntry::circle,
                          .opacity = kOpacity});
    if (!dots()) legend.push_back({"lowest to highest score, n = " + count_text(all.size()), theme::kLine});
    legend.push_back({"exons (higher: coding)", theme::kMark});
    plot.legend(legend);
    plot.line(std::vector<Point>{{x.least, 0}, {x.most, 0}}, theme::kSoft, 1, true);
    if (dots())
      for (const size_t k : kOrder) plot.dots(points[k], kColours[k], 2.8, kOpacity);
    else
      draw_ranges(plot, all);
    draw_gene(plot, gene_);
    out.svg = plot.picture();
    if (dots()) out.points = tips(plot);
  }

  std::vector<FigurePoint> tips(const Plot& plot) const {
    std::vector<FigurePoint> out;
    for (const GeneAllele& allele : alleles_)
      out.push_back({plot.x(point(allele).x), plot.y(point(allele).y),
                     place_text(contig_, allele.pos) + "\n" + tag_.name + ": " + value_text(score(allele)) +
                         (labelled() ? "\n" + classes_[shown_class(allele)] : "")});
    return out;
  }

  std::string caption() const {
    std::string out = with_unit(tag_.name, tag_.unit) + " of " +
                      plural(alleles_.size(), "alternative allele") + " in " + gene_name_ + ", " +
                      place_text(contig_, gene_.start) + "\u2013" +
                      count_text(static_cast<uint64_t>(gene_.end));
    if (gene_.strand == '+') out += ", strand +";
    if (gene_.strand == '-') out += ", strand \u2212";
    return out + ", by position. " +
           (dots() ? "A dot is an allele."
                   : "A bar reaches from the lowest to the highest score of its positions.") +
           " Below are the exons of all transcripts together, their coding parts higher.";
  }

  Table numbers() const {
    Table out;
    out.columns = {{"Position", "of the first base of REF, from 1", true}, {tag_.name, tag_.unit, true}};
    if (labelled()) out.columns.push_back({"Label", label_});
    if (alleles_.size() > kMostNumbers)
      out.title = "The " + count_text(kMostNumbers) + " " + tag_.extreme() + " of " +
                  plural(alleles_.size(), "allele");
    for (size_t i = 0; i < std::min(kMostNumbers, alleles_.size()); ++i) {
      out.rows.push_back({std::to_string(alleles_[i].pos), six_digits(score(alleles_[i]))});
      if (labelled()) out.rows.back().push_back(classes_[shown_class(alleles_[i])]);
    }
    return out;
  }

  std::string multiqc(const std::string& name, const std::string& title) const {
    nlohmann::ordered_json marks = nlohmann::ordered_json::array();
    for (size_t i = 0; i < std::min(kMostNumbers, alleles_.size()); ++i)
      marks.push_back(
          {{"x", alleles_[i].pos}, {"y", alleles_[i].score}, {"name", place_text(contig_, alleles_[i].pos)}});
    nlohmann::ordered_json out =
        multiqc_plot("scatter", name, "carbon: " + title, x_axis().label, y_axis().label);
    out["data"][tag_.name] = std::move(marks);
    return json_text(out);
  }

  const ScoreTag& tag_;
  const std::string& label_;
  const std::string& contig_;
  const Gene& gene_;
  const std::vector<GeneAllele>& alleles_;
  std::string gene_name_;
  std::string classes_[3];  // as kColours
};

}  // namespace

GeneTracks::GeneTracks(const VariantLayout& layout, const ReportOptions& options)
    : layout_(layout), options_(options) {}

uint32_t GeneTracks::contig_number(const std::string& name) {
  if (!contigs_.empty() && contigs_.back() == name) return static_cast<uint32_t>(contigs_.size() - 1);
  const auto number =
      static_cast<uint32_t>(std::find(contigs_.begin(), contigs_.end(), name) - contigs_.begin());
  if (number == contigs_.size()) contigs_.push_back(name);
  return number;
}

void GeneTracks::add(const VariantRecord& record) {
  if (options_.genes.empty()) return;
  for (size_t alt = 0; alt < record.alts.size(); ++alt) {
    const float score = record.scores[0][alt];
    if (!std::isfinite(score)) continue;
    const auto verdict = record.labels.empty() ? LabelJudge::Verdict::missing : record.labels[alt];
    alleles_.push_back({record.pos, score, contig_number(record.contig), static_cast<uint32_t>(verdict) & 3});
  }
}

// The positions of the lowest (or highest) scores, the lowest (or highest) first; each once.
std::vector<GeneArea> GeneTracks::first_places() const {
  std::vector<size_t> order(alleles_.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const size_t count = std::min(kFirstPlaces, order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<ptrdiff_t>(count), order.end(),
                    [&](size_t a, size_t b) {
                      return alleles_[a].score != alleles_[b].score
                                 ? layout_.tags[0].before(alleles_[a].score, alleles_[b].score)
                                 : a < b;
                    });
  std::vector<GeneArea> out;
  for (size_t i = 0; i < count; ++i) {
    const GeneAllele& allele = alleles_[order[i]];
    const std::string& contig = contigs_[allele.contig];
    if (std::none_of(out.begin(), out.end(),
                     [&](const GeneArea& one) { return one.sequence == contig && one.start == allele.pos; }))
      out.push_back({contig, allele.pos, allele.pos});
  }
  return out;
}

// The genes at these places, each once, in their order. Their exons are not complete: only those at the
// place.
std::vector<GeneTracks::Place> GeneTracks::first_genes(const GeneFile& file,
                                                       const std::vector<GeneArea>& places) const {
  std::vector<Place> out;
  for (size_t i = 0; i < places.size(); ++i) {
    const auto contig = static_cast<uint32_t>(
        std::find(contigs_.begin(), contigs_.end(), places[i].sequence) - contigs_.begin());
    for (const Gene& gene : file.genes[i]) {
      const bool known = std::any_of(out.begin(), out.end(), [&](const Place& one) {
        return one.contig == contig && one.gene.name == gene.name && one.gene.start == gene.start;
      });
      if (!known && out.size() < kMostGenes) out.push_back({contig, gene});
    }
  }
  return out;
}

void GeneTracks::read_exons(std::vector<Place>& genes) const {
  std::vector<GeneArea> areas;
  for (const Place& place : genes)
    areas.push_back({contigs_[place.contig], place.gene.start, place.gene.end});
  const GeneFile file = read_genes(options_.genes, areas);
  for (size_t i = 0; i < genes.size(); ++i)
    for (const Gene& gene : file.genes[i])
      if (gene.name == genes[i].gene.name && gene.start <= genes[i].gene.start &&
          gene.end >= genes[i].gene.end) {
        genes[i].gene = gene;
        break;
      }
}

Figure GeneTracks::figure(const std::string& name, const Place& place) const {
  std::vector<GeneAllele> inside;
  for (const GeneAllele& allele : alleles_)
    if (allele.contig == place.contig && allele.pos >= place.gene.start && allele.pos <= place.gene.end)
      inside.push_back(allele);
  std::stable_sort(inside.begin(), inside.end(), [&](const GeneAllele& a, const GeneAllele& b) {
    return layout_.tags[0].before(a.score, b.score);
  });
  return GeneFigure(layout_, options_.label, contigs_[place.contig], place.gene, inside).figure(name);
}

void GeneTracks::finish(const std::string& name, const std::string& path, Section& section) {
  if (options_.genes.empty() || alleles_.empty()) return;
  const std::string extreme = layout_.tags[0].extreme();
  const std::vector<GeneArea> places = first_places();
  const GeneFile file = read_genes(options_.genes, places);
  if (!file.known_sequence) {
    const std::string words = no_sequence_words(file, places[0].sequence);
    options_.log->warning("report",
                          options_.genes + ": no feature lies on a sequence of " + path + ", " + words);
    section.paragraphs.push_back("No genes are drawn: " + file_name(options_.genes) +
                                 " has no feature on a sequence of the " + extreme + " scores, " + words +
                                 ". The names must be equal.");
    return;
  }
  if (!file.other_names.empty())
    options_.log->warning("report", options_.genes + ": it has no feature on " + file.other_names + "; " +
                                        std::string(kRenameContigs));
  section.provenance.emplace_back("Genes", file_name(options_.genes));
  std::vector<Place> genes = first_genes(file, places);
  if (genes.empty()) {
    section.paragraphs.push_back("No gene of " + file_name(options_.genes) + " has one of the " +
                                 count_text(places.size()) + " places with the " + extreme + " scores.");
    return;
  }
  section.paragraphs.push_back("The genes of " + file_name(options_.genes) + " with the " + extreme +
                               " scores are drawn, the " + extreme + " first, " + std::to_string(kMostGenes) +
                               " at most.");
  read_exons(genes);
  for (size_t i = 0; i < genes.size(); ++i)
    section.parts.emplace_back(figure(name + "_gene_" + std::to_string(i + 1), genes[i]));
}

}  // namespace carbon
