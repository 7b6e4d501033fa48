#include "src/report/sections/gene_track.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "src/base/counts.hpp"
#include "src/report/drawing/plot.hpp"
#include "src/report/drawing/theme.hpp"
#include "src/report/sections/distributions.hpp"
#include "src/report/sources/input.hpp"

namespace carbon {
namespace {

constexpr size_t kLowest = 100;  // alleles among whose genes those to draw are chosen
constexpr size_t kMostDots = 5000, kMostNumbers = 500;
constexpr size_t kName = 40;                               // letters of a gene's name
constexpr double kWidth = 980, kHeight = 340, kFoot = 26;  // pixels; kFoot has the exons
constexpr double kExon = 8, kCoding = 16, kArrows = 48;
constexpr double kOpacity = 0.7;

// Of the classes of a label; the first stands for all alleles if there is no label.
constexpr std::string_view kColours[] = {theme::kSeries[1], theme::kSeries[0], theme::kReference};

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

// The positions of the lowest scores, the lowest first; each once.
std::vector<GeneArea> GeneTracks::lowest_places() const {
  std::vector<size_t> order(alleles_.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const size_t count = std::min(kLowest, order.size());
  std::partial_sort(
      order.begin(), order.begin() + static_cast<ptrdiff_t>(count), order.end(), [&](size_t a, size_t b) {
        return alleles_[a].score != alleles_[b].score ? alleles_[a].score < alleles_[b].score : a < b;
      });
  std::vector<GeneArea> out;
  for (size_t i = 0; i < count; ++i) {
    const Allele& allele = alleles_[order[i]];
    const std::string& contig = contigs_[allele.contig];
    if (std::none_of(out.begin(), out.end(),
                     [&](const GeneArea& one) { return one.sequence == contig && one.start == allele.pos; }))
      out.push_back({contig, allele.pos, allele.pos});
  }
  return out;
}

// The genes at these places, each once, in their order. Their exons are not complete: only those at the
// place.
std::vector<GeneTracks::Place> GeneTracks::lowest_genes(const GeneFile& file,
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
  const Gene& gene = place.gene;
  const std::string& contig = contigs_[place.contig];
  const ScoreTag& tag = layout_.tags[0];
  const std::string gene_name = cut_text(gene.name.empty() ? "a gene without a name" : gene.name, kName);
  std::vector<Allele> inside;
  for (const Allele& allele : alleles_)
    if (allele.contig == place.contig && allele.pos >= gene.start && allele.pos <= gene.end)
      inside.push_back(allele);
  const auto by_score = [](const Allele& a, const Allele& b) { return a.score < b.score; };
  std::stable_sort(inside.begin(), inside.end(), by_score);
  const bool labelled = !options_.label.empty(), dots = inside.size() <= kMostDots;

  Figure out;
  out.name = name;
  out.title = tag.name + " along " + gene_name;
  const double least = std::min(0.0, static_cast<double>(inside.front().score)),
               most = std::max(0.0, static_cast<double>(inside.back().score));
  const double room = (most - least) * kFoot / (kHeight - 120);
  Axis x{"Position on " + cut_text(contig, kName),
         static_cast<double>(gene.start),
         static_cast<double>(gene.end),
         false,
         {},
         true};
  if (gene.start == gene.end) x.least -= 1, x.most += 1;
  Axis y = round_axis(with_unit(tag.name, tag.unit), least, most);
  y.least -= std::max(room, 1e-6);
  Plot plot(out.title, kWidth, kHeight, x, y);
  std::vector<Point> points[3], all;
  for (const Allele& allele : inside) {
    const Point p = {static_cast<double>(allele.pos), static_cast<double>(allele.score)};
    points[labelled ? class_of(allele.verdict) : 1].push_back(p);
    all.push_back(p);
  }
  std::vector<LegendEntry> legend;
  const std::string classes[] = {cut_text(layout_.classes.positive, kName),
                                 labelled ? cut_text(layout_.classes.negative, kName) : "alleles", "neither"};
  for (const size_t k : {2, 1, 0})
    if (dots && !points[k].empty())
      legend.push_back({.name = classes[k] + ", n = " + count_text(points[k].size()),
                        .colour = kColours[k],
                        .mark = LegendEntry::circle,
                        .opacity = kOpacity});
  if (!dots) legend.push_back({"lowest to highest score, n = " + count_text(inside.size()), theme::kLine});
  legend.push_back({"exons (higher: coding)", theme::kMark});
  plot.legend(legend);
  plot.line(std::vector<Point>{{x.least, 0}, {x.most, 0}}, theme::kSoft, 1, true);
  if (dots)
    for (const size_t k : {2, 1, 0}) plot.dots(points[k], kColours[k], 2.8, kOpacity);
  else
    draw_ranges(plot, all);
  draw_gene(plot, gene);
  out.svg = plot.picture();
  for (const Allele& allele : inside) {
    if (!dots) break;
    out.points.push_back({plot.x(static_cast<double>(allele.pos)), plot.y(static_cast<double>(allele.score)),
                          place_text(contig, allele.pos) + "\n" + tag.name + ": " +
                              value_text(static_cast<double>(allele.score)) +
                              (labelled ? "\n" + classes[class_of(allele.verdict)] : "")});
  }

  out.caption = with_unit(tag.name, tag.unit) + " of " + plural(inside.size(), "alternative allele") +
                " in " + gene_name + ", " + place_text(contig, gene.start) + "\u2013" +
                count_text(static_cast<uint64_t>(gene.end)) +
                (gene.strand == '+' || gene.strand == '-'
                     ? std::string(", strand ") + (gene.strand == '-' ? "\u2212" : "+")
                     : "") +
                ", by position. " +
                (dots ? "A dot is an allele."
                      : "A bar reaches from the lowest to the highest score of its positions.") +
                " Below are the exons of all transcripts together, their coding parts higher.";
  out.words = "The lowest score is " + value_text(static_cast<double>(inside.front().score)) + " at " +
              place_text(contig, inside.front().pos) + ".";
  out.numbers.columns = {{"Position", "of the first base of REF, from 1", true}, {tag.name, tag.unit, true}};
  if (labelled) out.numbers.columns.push_back({"Label", options_.label});
  if (inside.size() > kMostNumbers)
    out.numbers.title = "The " + count_text(kMostNumbers) + " lowest of " + plural(inside.size(), "allele");
  nlohmann::ordered_json marks = nlohmann::ordered_json::array();
  for (size_t i = 0; i < std::min(kMostNumbers, inside.size()); ++i) {
    const Allele& allele = inside[i];
    out.numbers.rows.push_back({std::to_string(allele.pos), six_digits(static_cast<double>(allele.score))});
    if (labelled) out.numbers.rows.back().push_back(classes[class_of(allele.verdict)]);
    marks.push_back({{"x", allele.pos}, {"y", allele.score}, {"name", place_text(contig, allele.pos)}});
  }
  nlohmann::ordered_json data;
  data[tag.name] = std::move(marks);
  out.multiqc = json_text({{"plot_type", "scatter"},
                           {"pconfig",
                            {{"id", "carbon_" + name + "_plot"},
                             {"title", "carbon: " + out.title},
                             {"xlab", x.label},
                             {"ylab", y.label}}},
                           {"data", data}});
  return out;
}

void GeneTracks::finish(const std::string& name, const std::string& path, Section& section) {
  if (options_.genes.empty() || alleles_.empty()) return;
  const std::vector<GeneArea> places = lowest_places();
  const GeneFile file = read_genes(options_.genes, places);
  if (!file.known_sequence) {
    const std::string words = no_sequence_words(file, places[0].sequence);
    options_.log->warning("report",
                          options_.genes + ": no feature lies on a sequence of " + path + ", " + words);
    section.paragraphs.push_back("No genes are drawn: " + file_name(options_.genes) +
                                 " has no feature on a sequence of the lowest scores, " + words +
                                 ". The names must be equal.");
    return;
  }
  section.provenance.emplace_back("Genes", file_name(options_.genes));
  std::vector<Place> genes = lowest_genes(file, places);
  if (genes.empty()) {
    section.paragraphs.push_back("No gene of " + file_name(options_.genes) + " has one of the " +
                                 count_text(places.size()) + " places with the lowest scores.");
    return;
  }
  section.paragraphs.push_back("The genes of " + file_name(options_.genes) +
                               " with the lowest scores are drawn, the lowest first, " +
                               std::to_string(kMostGenes) + " at most.");
  read_exons(genes);
  for (size_t i = 0; i < genes.size(); ++i)
    section.parts.emplace_back(figure(name + "_gene_" + std::to_string(i + 1), genes[i]));
}

}  // namespace carbon
