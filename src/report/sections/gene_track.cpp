// Scores along genes: a figure for each of the genes with the lowest scores, or the highest where these are
// the damaging ones, with its exons.

#include <algorithm>
#include <cmath>

#include "src/base/words.hpp"
#include "src/report/drawing/chart.hpp"
#include "src/report/sections/bases.hpp"
#include "src/report/sections/distributions.hpp"
#include "src/report/sections/variant_parts.hpp"
#include "src/report/sources/input.hpp"

namespace carbon {
namespace {

constexpr int64_t kSplice = 20;   // bases of an intron next to each exon that keep their length
constexpr double kIntrons = 0.3;  // of the scale that is left for exons, what all introns together take

// The exons with their splice sites, within the gene; those that then touch are one.
std::vector<GenePart> kept_parts(const Gene& gene) {
  std::vector<GenePart> out;
  for (const GenePart& exon : gene.exons) {
    const GenePart kept = {std::max(gene.start, exon.start - kSplice),
                           std::min(gene.end, exon.end + kSplice)};
    if (kept.start <= kept.end) out.push_back(kept);
  }
  merge_parts(out);
  return out;
}

// A scale along a gene on which exons keep their lengths and introns are shortened, so that what is in exons
// has room.
class ExonScale {
 public:
  explicit ExonScale(const Gene& gene) : bases_(static_cast<double>(gene.end - gene.start + 1)) {
    const std::vector<GenePart> kept = kept_parts(gene);
    for (const GenePart& exon : gene.exons) exons_.push_back(exon.start);
    double exonic = 0;
    for (const GenePart& part : kept) exonic += static_cast<double>(part.end - part.start + 1);
    // Each intron as long as the others, but none longer than it is.
    const double gap = kIntrons * exonic / static_cast<double>(std::max<size_t>(1, kept.size()));
    const auto add = [&](int64_t start, int64_t end, bool whole) {
      if (start > end) return;
      const auto bases = static_cast<double>(end - start + 1);
      const double taken = whole ? bases : std::min(bases, gap);
      parts_.push_back({start, length_, taken / bases});
      length_ += taken;
    };
    int64_t next = gene.start;
    for (const GenePart& part : kept) {
      add(next, part.start - 1, false);
      add(part.start, part.end, true);
      next = part.end + 1;
    }
    add(next, gene.end, false);
  }

  // Whether the gene has exons, and becomes shorter by a third or more.
  bool worth_it() const { return parts_.size() > 1 && length_ < 2.0 / 3 * bases_; }
  // Where a base begins, in bases of the scale from 0. Bases outside of the gene have the place of its ends.
  double edge(int64_t base) const {
    auto after = std::upper_bound(parts_.begin(), parts_.end(), base,
                                  [](int64_t value, const Part& part) { return value < part.start; });
    if (after == parts_.begin()) return 0;
    const Part& part = *(after - 1);
    return std::min(length_, part.at + part.unit * static_cast<double>(base - part.start));
  }
  double length() const { return length_; }
  // Where the first base of each exon begins, and its position.
  std::vector<std::pair<double, std::string>> ticks() const {
    std::vector<std::pair<double, std::string>> out;
    for (const int64_t start : exons_)
      out.emplace_back(edge(start), count_text(static_cast<uint64_t>(std::max<int64_t>(0, start))));
    return out;
  }

 private:
  struct Part {
    int64_t start = 1;  // its first base; it ends where the next one starts
    double at = 0;      // where this begins
    double unit = 1;    // how much a base takes
  };

  std::vector<Part> parts_;
  std::vector<int64_t> exons_;  // their first bases
  double bases_ = 0, length_ = 0;
};

// An allele with a score, in 24 bytes.
struct GeneAllele {
  int64_t pos;
  float score;
  uint32_t contig : 30;          // among those of the file
  uint32_t verdict : 2;          // a LabelJudge::Verdict
  uint32_t change, consequence;  // "G>T" and its most severe consequence, in the words of the tracks
};

constexpr size_t kFirstPlaces = 100;  // alleles among whose genes those to draw are chosen
constexpr size_t kName = 40;          // letters of a gene's name
constexpr double kWidth = 980, kHeight = 340, kFoot = 26;  // pixels; kFoot has the exons
constexpr double kExon = 8;
constexpr size_t kPlaceColumn = 2, kNameColumn = 3;  // of a chart; then come those that may be missing
constexpr size_t kWord = 60;                         // letters of a consequence
constexpr size_t kMostWords = 20'000, kMostContigs = size_t{1} << 30;
constexpr double kOpacity = 0.7;

std::string place_text(const std::string& contig, int64_t pos) {
  return contig + ":" + count_text(static_cast<uint64_t>(pos));
}

// Many alleles: in each column of pixels a bar from the lowest to the highest score.
void draw_ranges(Plot& plot, const std::vector<GeneAllele>& alleles,
                 const std::function<double(int64_t)>& edge) {
  struct Range {
    double low = NAN, high = NAN;
  };
  std::vector<Range> columns(static_cast<size_t>(plot.right() - plot.left()) + 1);
  for (const GeneAllele& allele : alleles) {
    const Point p = {(edge(allele.pos) + edge(allele.pos + 1)) / 2, allele.score};
    Range& one =
        columns[static_cast<size_t>(std::clamp(plot.x(p.x) - plot.left(), 0.0, plot.right() - plot.left()))];
    one.low = std::fmin(one.low, p.y);
    one.high = std::fmax(one.high, p.y);
  }
  std::string path;
  for (size_t i = 0; i < columns.size(); ++i)
    if (!std::isnan(columns[i].low))
      path += box_path(plot.left() + static_cast<double>(i), plot.y(columns[i].high) - 0.5, 1,
                       plot.y(columns[i].low) - plot.y(columns[i].high) + 1);
  plot.marks().path(path, theme::kLine);
}

std::string gene_place(const std::string& contig, const Gene& gene) {
  std::string out = place_text(contig, gene.start) + "\u2013" + count_text(static_cast<uint64_t>(gene.end));
  if (gene.strand == '+') out += ", strand +";
  if (gene.strand == '-') out += ", strand \u2212";
  return out;
}

// Along a gene. Without `scale` it is the scale of the genome.
Axis position_axis(const std::string& contig, const Gene& gene, const ExonScale* scale) {
  Axis out = {.label = "Position on " + cut_text(contig, kName),
              .least = static_cast<double>(gene.start),
              .most = static_cast<double>(gene.end),
              .positions = true};
  if (gene.start == gene.end) out.least -= 1, out.most += 1;
  if (!scale) return out;
  out.label += ", introns shortened";
  out.least = 0, out.most = scale->length();
  out.ticks = scale->ticks();
  return out;
}

class GeneTracks final : public VariantPart {
 public:
  explicit GeneTracks(const VariantFile& file)
      : name_(file.name), path_(file.path), layout_(file.layout), options_(file.options) {}

  // Keeps 24 bytes for each allele with a score of the first tag, if options.genes names a file.
  void add(const VariantRecord& record) override {
    if (options_.genes.empty()) return;
    for (size_t alt = 0; alt < record.alts.size(); ++alt) {
      const float score = record.scores[0][alt];
      if (std::isnan(score)) continue;
      const std::string consequence =
          record.consequences.empty() ? "" : cut_text(record.consequences[alt].term, kWord);
      alleles_.push_back({record.pos, score, number(contigs_, record.contig),
                          static_cast<uint32_t>(verdict_of(record, alt)) & 3,
                          number(words_, change_name(record, alt)), number(words_, consequence)});
    }
  }

  // Reads the genes, twice, and adds figures, or a paragraph that says why there are none.
  void finish(Section& section) override {
    if (options_.genes.empty() || alleles_.empty()) return;
    const std::string extreme = layout_.tags[0].extreme();
    const std::vector<GeneArea> places = first_places();
    const auto file = find_genes(places, path_, options_, "genes", "the " + extreme + " scores", section);
    if (!file) return;
    std::vector<Place> genes = first_genes(*file, places);
    if (genes.empty()) {
      section.paragraphs.push_back("No gene of " + file_name(options_.genes) +
                                   " has one of the places with the " + extreme + " scores, " +
                                   count_text(places.size()) + " of them.");
      return;
    }
    section.paragraphs.push_back("The genes of " + file_name(options_.genes) + " with the " + extreme +
                                 " scores are drawn, the " + extreme + " first, " +
                                 std::to_string(kMostGenes) + " at most.");
    read_exons(genes);
    for (size_t i = 0; i < genes.size(); ++i)
      section.parts.emplace_back(figure(name_ + "_gene_" + std::to_string(i + 1), genes[i]));
  }

 private:
  static constexpr size_t kMostGenes = 6;

  struct Place {
    uint32_t contig;
    Gene gene;
  };

  static uint32_t number(GroupNames& names, const std::string& name) {
    return static_cast<uint32_t>(names.number(name));
  }
  const std::string& contig_name(uint32_t number) const { return contigs_.names()[number]; }
  // "" for one that is not kept.
  const std::string& word(uint32_t number) const { return words_.names()[number < kMostWords ? number : 0]; }

  // The positions of the lowest (or highest) scores, the lowest (or highest) first; each once.
  std::vector<GeneArea> first_places() const {
    std::vector<size_t> order = numbers_to(alleles_.size());
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
      const std::string& contig = contig_name(allele.contig);
      if (std::none_of(out.begin(), out.end(), [&](const GeneArea& one) {
            return one.sequence == contig && one.start == allele.pos;
          }))
        out.push_back({contig, allele.pos, allele.pos});
    }
    return out;
  }

  // The genes at these places, each once, in their order. Their exons are not complete: only those at the
  // place.
  std::vector<Place> first_genes(const GeneFile& file, const std::vector<GeneArea>& places) {
    std::vector<Place> out;
    for (size_t i = 0; i < places.size(); ++i) {
      const uint32_t contig = number(contigs_, places[i].sequence);
      for (const Gene& gene : file.genes[i]) {
        const bool known = std::any_of(out.begin(), out.end(), [&](const Place& one) {
          return one.contig == contig && one.gene.name == gene.name && one.gene.start == gene.start;
        });
        if (!known && out.size() < kMostGenes) out.push_back({contig, gene});
      }
    }
    return out;
  }

  void read_exons(std::vector<Place>& genes) const {
    std::vector<GeneArea> areas;
    for (const Place& place : genes)
      areas.push_back({contig_name(place.contig), place.gene.start, place.gene.end});
    const GeneFile file = read_genes(options_.genes, areas);
    for (size_t i = 0; i < genes.size(); ++i)
      for (const Gene& gene : file.genes[i])
        if (gene.name == genes[i].gene.name && gene.start <= genes[i].gene.start &&
            gene.end >= genes[i].gene.end) {
          genes[i].gene = gene;
          break;
        }
  }

  Figure figure(const std::string& name, const Place& place) const {
    std::vector<GeneAllele> inside;
    for (const GeneAllele& allele : alleles_)
      if (allele.contig == place.contig && allele.pos >= place.gene.start && allele.pos <= place.gene.end)
        inside.push_back(allele);
    std::stable_sort(inside.begin(), inside.end(), [&](const GeneAllele& a, const GeneAllele& b) {
      return layout_.tags[0].before(a.score, b.score);
    });
    const Chart genome = chart(name, place, inside, nullptr);
    Figure out = figure_of(genome);
    const ExonScale scale(place.gene);
    if (!scale.worth_it()) return out;
    Figure shown = figure_of(chart(name, place, inside, &scale));
    shown.multiqc = std::move(out.multiqc);
    shown.other = {Picture(std::move(out)), "genome", "At the scale of the genome"};
    return shown;
  }

  // The chart of one gene. `alleles` are those in it, at least one, the lowest (or highest) score first.
  // Without `scale` it is drawn at the scale of the genome.
  Chart chart(const std::string& name, const Place& place, const std::vector<GeneAllele>& alleles,
              const ExonScale* scale) const {
    const ScoreTag& tag = layout_.tags[0];
    const Gene& gene = place.gene;
    const std::string &contig = contig_name(place.contig), &label = options_.label;
    const std::string gene_name = cut_text(gene.name.empty() ? "a gene without a name" : gene.name, kName);
    const std::string classes[] = {cut_text(layout_.classes.positive, kName),
                                   label.empty() ? "alleles" : cut_text(layout_.classes.negative, kName),
                                   "neither"};  // as kClassColours
    const auto class_shown = [&](const GeneAllele& one) {
      return label.empty() ? 1 : class_of(static_cast<LabelJudge::Verdict>(one.verdict));
    };
    const bool dots = alleles.size() <= kMostDots;
    Chart out;
    out.name = name;
    out.title = tag.name + " along " + gene_name;
    out.width = kWidth, out.height = kHeight;
    out.x = position_axis(contig, gene, scale);
    const auto edge = [scale](int64_t base) {
      return scale ? scale->edge(base) : static_cast<double>(base) - 0.5;
    };
    std::vector<double> scores;
    for (const GeneAllele& one : alleles) scores.push_back(one.score);
    if (!dots) scores = {scores.front(), scores.back()};  // bars have all of them
    const auto [least, most] = middle_of(std::move(scores));
    out.y = round_axis(with_unit(tag.name, tag.unit), std::min(0.0, least), std::max(0.0, most));
    out.y.foot = kFoot;
    const auto allele = [&](const GeneAllele& one) {
      const std::string& change = word(one.change);
      return place_text(contig, one.pos) + (change.empty() ? "" : " " + change);
    };
    const auto or_point = [](const std::string& text) { return text.empty() ? "." : text; };
    std::vector<Field<GeneAllele>> fields = {
        {"Position", "of the first base of REF, from 1", &GeneAllele::pos, ChartColumn::count},
        {tag.name, tag.unit, &GeneAllele::score},
        {"place on the scale", "",
         [&](const GeneAllele& one) { return (edge(one.pos) + edge(one.pos + 1)) / 2; }, ChartColumn::hidden},
        {"name", "", allele, ChartColumn::hidden},
        {"Change", "REF>ALT", [&](const GeneAllele& one) { return or_point(word(one.change)); }}};
    if (!layout_.consequence_tag.empty())
      fields.push_back({"Consequence", "The most severe one for this allele in " + layout_.consequence_tag,
                        [&](const GeneAllele& one) { return or_point(word(one.consequence)); }});
    if (!label.empty())
      fields.push_back({"Label", label, [&](const GeneAllele& one) { return classes[class_shown(one)]; }});
    // Of more alleles than can be told apart the numbers are those of the first.
    const std::vector<GeneAllele> shown(alleles.begin(), dots ? alleles.end() : alleles.begin() + kMostRows);
    out.columns = columns_of(shown, fields);
    out.x_column = kPlaceColumn;
    out.names = kNameColumn;
    out.row = "allele";
    out.first = tag.extreme();
    out.most_multiqc = kMostRows;
    out.all_rows = alleles.size();
    // The first lies on top, so that classes lie upon those that are in neither.
    for (size_t k = 0; k < std::size(classes); ++k)
      out.series.push_back({.mark = Series::dots,
                            .name = label.empty() ? tag.name : classes[k],
                            .colour = kClassColours[k],
                            .value = 1,
                            .rows = std::vector<size_t>(),
                            .size = 2.8,
                            .opacity = kOpacity,
                            .edge = theme::kPaper,
                            .drawn = dots});
    for (size_t i = 0; i < shown.size(); ++i) {
      const GeneAllele& one = shown[i];
      const std::string& consequence = word(one.consequence);
      out.series[class_shown(one)].rows->push_back(i);
      out.tips.push_back(allele(one) + "\n" + tag.name + ": " + value_text(one.score) +
                         (consequence.empty() ? "" : "\n" + consequence) +
                         (label.empty() ? "" : "\n" + classes[class_shown(one)]));
    }
    for (size_t k = 0; k < std::size(classes); ++k)
      out.series[k].legend = classes[k] + ", n = " + count_text(out.series[k].rows->size());
    std::erase_if(out.series, [](const Series& one) { return one.rows->empty(); });
    if (!dots) out.legend = {{"lowest to highest score, n = " + count_text(alleles.size()), theme::kLine}};
    out.legend.push_back({"exons (higher: coding)", theme::kMark});
    out.series.push_back(guide({{out.x.least, 0}, {out.x.most, 0}}));
    out.above = [&alleles, &gene, dots, edge](Plot& plot) {
      if (!dots) draw_ranges(plot, alleles, edge);
      draw_gene(
          plot.marks(), gene, [&](int64_t base) { return plot.x(edge(base)); }, plot.left(), plot.right(),
          plot.bottom() - kFoot / 2, kExon);
    };
    out.what = with_unit(tag.name, tag.unit) + " of " + plural(alleles.size(), "alternative allele") +
               " in " + gene_name + ", " + gene_place(contig, gene) + ", by position.";
    out.how =
        std::string(dots ? "A dot is an allele."
                         : "A bar reaches from the lowest to the highest score of its positions.") +
        " Below are the exons of all transcripts together, their coding parts higher." +
        (scale ? " Exons have their lengths, with " + std::to_string(kSplice) +
                     " bases on each side; longer introns are shortened. Positions are those of the first "
                     "bases of exons."
               : "");
    out.words = "The " + std::string(tag.extreme()) + " score is " + value_text(alleles.front().score) +
                " at " + place_text(contig, alleles.front().pos) + ".";
    return out;
  }

  const std::string &name_, &path_;
  const VariantLayout& layout_;
  const ReportOptions& options_;
  GroupNames contigs_{{}, kMostContigs};
  std::vector<GeneAllele> alleles_;
  GroupNames words_{{""}, kMostWords};
};

}  // namespace

std::unique_ptr<VariantPart> gene_tracks(const VariantFile& file) {
  return std::make_unique<GeneTracks>(file);
}

}  // namespace carbon
