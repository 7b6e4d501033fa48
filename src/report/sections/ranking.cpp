// The alleles with the lowest scores, or the highest where these are the damaging ones, as a table with a
// small sequence logo in each row: the bases around each allele with the probabilities of their letters,
// which are also data for the page's viewer, and the genes there.

#include <algorithm>
#include <cmath>
#include <map>
#include <span>

#include "src/base/error.hpp"
#include "src/formats/vcf.hpp"
#include "src/report/sections/bases.hpp"
#include "src/report/sections/summaries.hpp"
#include "src/report/sections/variant_parts.hpp"
#include "src/report/sources/input.hpp"

namespace carbon {
namespace {

// ---- What lies around an allele

constexpr double kHeight = 40, kUnit = 10, kTop = 1, kFoot = 35;  // pixels
constexpr double kLeast = 1.2;                                    // a lower letter cannot be seen

// The stack of one base, from the foot upwards.
void draw_stack(const BaseTrack& track, size_t i, LetterPaths& actual, LetterPaths& others) {
  std::array<int, 4> order = {0, 1, 2, 3};
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return track.probability(i, a) < track.probability(i, b); });
  double y = kFoot;
  for (const int k : order) {
    const double high = (kFoot - kTop) * track.probability(i, k);
    y -= high;
    if (high < kLeast) continue;
    (k == track.base[i] ? actual : others)[static_cast<size_t>(k)] +=
        letter_path(k, static_cast<double>(i) * kUnit + 0.5, y, kUnit - 1, high);
  }
}

bool has_values(std::span<const LetterLogs> rows) {
  return std::any_of(rows.begin(), rows.end(), [](const LetterLogs& row) { return !std::isnan(row[0]); });
}

bool has_part(const std::vector<GenePart>& parts, int64_t pos) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](const GenePart& part) { return part.start <= pos && pos <= part.end; });
}

// ---- The table

// Data for the viewer as viewer_data() makes it, of all bases, with the exons of `genes` marked; "" without
// values. `name` is that of the allele.
std::string locus_data(TablePiece around, const std::string& name, const std::vector<Gene>& genes) {
  if (around.letters.empty()) return {};
  // Before the first base of a contig there is none.
  if (const int64_t before = 1 - around.first; before > 0) {
    around.letters.erase(0, static_cast<size_t>(before));
    around.values.erase(around.values.begin(), around.values.begin() + before);
    around.first = 1;
  }
  const std::vector<TrackMark> marks = exon_marks(genes, around);
  return viewer_data(name, make_track(around.letters, around.values, around.first), marks, "");
}

// The genes at a place and which part of them it is: "BRCA1 (coding), NBR2 (intron)"; "" for none.
std::string gene_words(const std::vector<Gene>& genes, int64_t pos) {
  std::string out;
  for (const Gene& gene : genes) {
    if (pos < gene.start || gene.end < pos) continue;
    const char* part = has_part(gene.coding, pos) ? "coding" : has_part(gene.exons, pos) ? "exon" : "intron";
    out += (out.empty() ? "" : ", ") + (gene.name.empty() ? "a gene without a name" : gene.name) + " (" +
           part + ")";
  }
  return out;
}

constexpr size_t kAllele = 16;         // letters of a long allele
constexpr size_t kText = 60;           // of texts that a file may make as long as it likes
constexpr size_t kFlank = 7;           // bases of a logo on each side of POS
constexpr int64_t kLocusFlank = 30;    // and of the locus that a row opens
constexpr size_t kMostLoci = 1000;     // rows that have one: a kilobyte or two each
constexpr size_t kAddressAllele = 40;  // letters of an allele in the address of its row

std::string verdict_text(LabelJudge::Verdict verdict, const ClassNames& classes) {
  const std::string words[] = {cut_text(classes.positive, kText), cut_text(classes.negative, kText),
                               "neither", "."};
  return words[static_cast<size_t>(verdict)];
}

// As a VCF has it, so that the rows can be looked up and compared.
std::string score_text(float score) {
  if (std::isnan(score)) return ".";
  std::string digits;
  append_vcf_float(score, digits);
  return digits;
}

// An allele in a table: a long one is shortened, and its number of letters follows.
std::string allele_text(const std::string& allele) {
  if (allele.size() <= kAllele + 4) return allele;
  return cut_text(allele, kAllele) + " (" + count_text(allele.size()) + " letters)";
}

// A part of an address: letters that a browser, a shell or a mail could take for something else become _.
std::string address_part(std::string_view text) {
  return plain_name(text.substr(0, kText), ".+*:");
}

std::string address_allele(const std::string& allele) {
  return allele.size() <= kAddressAllele ? address_part(allele) : std::to_string(allele.size()) + "bp";
}

// chr17-43094692-G-T
std::string address_of(const VariantRecord& record, size_t alt) {
  return address_part(record.contig) + "-" + std::to_string(record.pos) + "-" + address_allele(record.ref) +
         "-" + address_allele(record.alts[alt]);
}

// Keeps options.top alleles with the lowest (or highest) scores of the first tag; among equal ones the
// earlier.
class VariantRanking final : public VariantPart {
 public:
  explicit VariantRanking(const VariantFile& file)
      : layout_(file.layout), options_(file.options), rows_(file.options.top) {
    choose_columns();
  }

  void add(const VariantRecord& record) override {
    for (size_t alt = 0; alt < record.alts.size(); ++alt)
      if (const float score = record.scores[0][alt]; !std::isnan(score)) {
        const double rank = layout_.tags[0].high ? -score : score;
        if (rows_.takes(rank)) rows_.add(rank, row(record, alt));
      }
  }

  void finish(Section& section) override {
    if (!rows_.empty()) section.parts.emplace_back(table());
  }

 private:
  struct Row {
    BasePlace place;
    std::string name;  // of the allele
    std::vector<std::string> texts;
    std::string address;
    std::vector<std::pair<std::string, std::string>> links;
  };
  struct Column {
    TableColumn head;
    std::function<std::string(const VariantRecord& record, size_t alt)> text;
  };

  Row row(const VariantRecord& record, size_t alt) const {
    Row out{{record.contig, record.pos - 1}, allele_name(record, alt), {}, address_of(record, alt), {}};
    if (layout_.assembly)
      out.links = database_links(*layout_.assembly, record.contig, record.pos, record.ref, record.alts[alt]);
    for (const Column& column : columns_) out.texts.push_back(column.text(record, alt));
    return out;
  }

  void choose_columns() {
    using Record = const VariantRecord&;
    columns_ = {
        {{"CHROM", "Contig"}, [](Record r, size_t) { return cut_text(r.contig, kText); }},
        {{"POS", "Position of the first base of REF, from 1", true},
         [](Record r, size_t) { return std::to_string(r.pos); }},
        {{"ID"}, [](Record r, size_t) { return cut_text(r.id, kText); }},
        {{"REF", "Reference allele"}, [](Record r, size_t) { return allele_text(r.ref); }},
        {{"ALT", "Alternative allele"}, [](Record r, size_t alt) { return allele_text(r.alts[alt]); }},
        {{"Type", "What the alternative changes"},
         [](Record r, size_t alt) { return std::string(r.types[alt]); }}};
    if (!layout_.table)
      columns_.push_back({{"FILTER"}, [](Record r, size_t) { return cut_text(r.filter, kText); }});
    const auto or_point = [](const std::string& text) { return text.empty() ? "." : cut_text(text, kText); };
    if (const std::string& tag = layout_.consequence_tag; !tag.empty()) {
      columns_.push_back({{"Consequence", "The most severe one for this allele in " + tag},
                          [=](Record r, size_t alt) { return or_point(r.consequences[alt].term); }});
      columns_.push_back({{"Gene", "The gene of this consequence in " + tag},
                          [=](Record r, size_t alt) { return or_point(r.consequences[alt].gene); }});
    }
    for (size_t t = 0; t < layout_.tags.size(); ++t) {
      const ScoreTag& tag = layout_.tags[t];
      columns_.push_back({{tag.name, tag.unit.empty() ? "Score" : "Score in " + tag.unit, true},
                          [t](Record r, size_t alt) { return score_text(r.scores[t][alt]); }});
    }
    if (!options_.label.empty())
      columns_.push_back({{"Label", options_.label}, [this](Record r, size_t alt) {
                            return verdict_text(r.labels[alt], layout_.classes);
                          }});
  }

  // The lowest (or highest) score first. With options.genes it has the genes of each row, and with
  // options.probabilities a small logo and the data of the locus.
  Table table() const {
    std::vector<Row> rows = rows_.sorted();
    const uint64_t scored = rows_.count();
    const ScoreTag& tag = layout_.tags[0];
    const std::string extreme = tag.extreme();
    Table out;
    out.brief = (tag.high ? "Highest scores: " : "Lowest scores: ") + tag.name;
    out.title =
        (tag.high ? "Highest scores: " : "Lowest scores: ") +
        (rows.size() < scored
             ? "the " + count_text(rows.size()) + " " + extreme + " of " + plural(scored, "allele") +
                   " with a score (--top shows more)"
             : (scored == 1 ? "the only allele" : "all " + plural(scored, "allele")) + " with a score") +
        ", by " + tag.name + ", the " + extreme + " first";
    for (const Column& column : columns_) out.columns.push_back(column.head);
    out.search = true;
    out.addressed = 1;
    out.sorted =
        static_cast<int>(out.columns.size() - layout_.tags.size() - (options_.label.empty() ? 0 : 1));
    out.descending = tag.high;
    std::vector<BasePlace> places;
    for (Row& row : rows) {
      places.push_back(row.place);
      out.rows.push_back(std::move(row.texts));
      out.addresses.push_back(std::move(row.address));
      if (layout_.assembly) out.links.push_back(std::move(row.links));
    }
    const std::vector<std::vector<Gene>> genes = genes_at(places);
    if (!genes.empty()) add_genes(places, genes, out);
    if (!options_.probabilities.empty()) add_loci(rows, places, genes, out);
    return out;
  }

  // Near each place; none at all if no file is named, or none of its features lies on a contig of the places.
  std::vector<std::vector<Gene>> genes_at(const std::vector<BasePlace>& places) const {
    if (options_.genes.empty() || places.empty()) return {};
    std::vector<GeneArea> areas;
    for (const BasePlace& place : places)
      areas.push_back({place.contig, place.pos + 1 - kLocusFlank, place.pos + 1 + kLocusFlank});
    GeneFile file = read_genes(options_.genes, areas);
    if (!file.known_sequence) return {};
    return std::move(file.genes);
  }

  // A column before the scores, by which the rows are sorted.
  void add_genes(const std::vector<BasePlace>& places, const std::vector<std::vector<Gene>>& genes,
                 Table& out) const {
    const auto at = static_cast<ptrdiff_t>(out.sorted++);
    out.columns.insert(
        out.columns.begin() + at,
        {"Where", "The genes of " + file_name(options_.genes) +
                      " at POS: whether it is in a coding part, another part of an exon, or an intron"});
    for (size_t r = 0; r < out.rows.size(); ++r) {
      const std::string words = gene_words(genes[r], places[r].pos + 1);
      out.rows[r].insert(out.rows[r].begin() + at, words.empty() ? "." : cut_text(words, kText));
    }
  }

  void add_loci(const std::vector<Row>& rows, const std::vector<BasePlace>& places,
                const std::vector<std::vector<Gene>>& genes, Table& out) const {
    const std::vector<TablePiece> around = read_surroundings(options_.probabilities, places, kLocusFlank);
    for (size_t r = 0; r < rows.size(); ++r) {
      out.pictures.push_back(small_logo(around[r], kFlank));
      if (r < kMostLoci)
        out.loci.push_back(
            locus_data(around[r], rows[r].name, genes.empty() ? std::vector<Gene>{} : genes[r]));
    }
  }

  const VariantLayout& layout_;
  const ReportOptions& options_;
  std::vector<Column> columns_;
  Lowest<Row> rows_;  // by the score, or by minus it where high ones are damaging
};

}  // namespace

std::vector<TablePiece> read_surroundings(const std::string& table, const std::vector<BasePlace>& places,
                                          size_t flank) {
  std::vector<TablePiece> found(places.size());
  if (places.empty()) return found;
  const auto far = static_cast<int64_t>(flank);
  // The numbers of the places by contig and position.
  std::multimap<std::pair<std::string_view, int64_t>, size_t> by_position;
  std::vector<WrittenRegion> around;
  for (size_t i = 0; i < places.size(); ++i) {
    const auto& [contig, pos] = places[i];
    by_position.emplace(std::pair<std::string_view, int64_t>(contig, pos), i);
    around.push_back({contig, std::max<int64_t>(0, pos - far), pos + 1 + far});
  }
  const VcfRegions regions(around);
  BaseTable input(table, &regions);
  if (input.kind() != InputKind::base_scores && input.kind() != InputKind::scan)
    throw Error(
        "read_surroundings",
        table + ": this table has no probabilities of letters; those are in tables of score -O tsv and scan");
  size_t open = places.size() * (2 * flank + 1);  // bases that have not come
  TableBase base;
  while (open > 0 && input.next(base)) {
    const int64_t pos = base.position - 1;
    const auto end = by_position.upper_bound({base.sequence, pos + far});
    for (auto at = by_position.lower_bound({base.sequence, pos - far}); at != end; ++at) {
      TablePiece& piece = found[at->second];
      if (piece.letters.empty()) {
        piece.sequence = base.sequence;
        piece.first = at->first.second + 1 - far;
        piece.letters.assign(2 * flank + 1, 'N');
        piece.values.assign(2 * flank + 1, {NAN, NAN, NAN, NAN});
      }
      const auto where = static_cast<size_t>(base.position - piece.first);
      if (piece.letters[where] == 'N') --open;
      piece.letters[where] = base.letter;
      piece.values[where] = base.letters;
    }
  }
  for (TablePiece& piece : found)
    if (!has_values(piece.values)) piece = {};
  return found;
}

std::string small_logo(const TablePiece& around, size_t flank) {
  const size_t all = around.letters.size() / 2;
  const size_t shown = std::min(flank, all), from = all - shown;
  if (around.letters.empty()) return {};
  const std::span<const LetterLogs> middle = std::span(around.values).subspan(from, 2 * shown + 1);
  if (!has_values(middle)) return {};
  const BaseTrack track = make_track(around.letters.substr(from, 2 * shown + 1), middle);
  LetterPaths actual, others;
  for (size_t i = 0; i < track.length(); ++i)
    if (track.has_value(i)) draw_stack(track, i, actual, others);
  Svg out;
  draw_letters(out, others, actual);
  out.path(box_path(static_cast<double>(shown) * kUnit, kFoot + 2, kUnit, 2.5), theme::kInk);
  const std::string width = px(static_cast<double>(track.length()) * kUnit), height = px(kHeight);
  const auto place = static_cast<uint64_t>(around.first) + all;
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + width + "\" height=\"" + height +
         "\" viewBox=\"0 0 " + width + " " + height + "\" role=\"img\"><title>Probabilities around " +
         escape_xml(around.sequence + ":" + count_text(place) + ", reference " + track.sequence) +
         "</title>" + out.body() + "</svg>";
}

std::unique_ptr<VariantPart> variant_ranking(const VariantFile& file) {
  return std::make_unique<VariantRanking>(file);
}

}  // namespace carbon
