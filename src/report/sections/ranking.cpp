#include "src/report/sections/ranking.hpp"

#include <algorithm>
#include <cmath>

#include "src/formats/vcf.hpp"
#include "src/report/drawing/plot.hpp"
#include "src/report/sections/distributions.hpp"
#include "src/report/sources/genes.hpp"
#include "src/report/sources/input.hpp"

namespace carbon {
namespace {

constexpr size_t kAllele = 16;         // letters of a long allele
constexpr size_t kText = 60;           // of texts that a file may make as long as it likes
constexpr size_t kFlank = 7;           // bases of a logo on each side of POS
constexpr int64_t kLocusFlank = 30;    // and of the locus that a row opens
constexpr size_t kMostLoci = 1000;     // rows that have one: a kilobyte or two each
constexpr size_t kAddressAllele = 40;  // letters of an allele in the address of its row

std::string verdict_text(LabelJudge::Verdict verdict, const ClassNames& classes) {
  switch (verdict) {
    case LabelJudge::Verdict::positive:
      return cut_text(classes.positive, kText);
    case LabelJudge::Verdict::negative:
      return cut_text(classes.negative, kText);
    case LabelJudge::Verdict::other:
      return "neither";
    case LabelJudge::Verdict::missing:
      break;
  }
  return ".";
}

// With all digits of the file: the rows can be looked up and compared.
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
  std::string out(text.substr(0, kText));
  for (char& c : out) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    if (!plain && std::string_view("_.+*:").find(c) == std::string_view::npos) c = '_';
  }
  return out;
}

std::string address_allele(const std::string& allele) {
  return allele.size() <= kAddressAllele ? address_part(allele) : std::to_string(allele.size()) + "bp";
}

// chr17-43094692-G-T
std::string address_of(const VariantRecord& record, size_t alt) {
  return address_part(record.contig) + "-" + std::to_string(record.pos) + "-" + address_allele(record.ref) +
         "-" + address_allele(record.alts[alt]);
}

}  // namespace

VariantRanking::VariantRanking(const VariantLayout& layout, const ReportOptions& options)
    : layout_(layout), options_(options), rows_(options.top) {
  choose_columns();
}

void VariantRanking::add(const VariantRecord& record) {
  for (size_t alt = 0; alt < record.alts.size(); ++alt)
    if (const float score = record.scores[0][alt]; !std::isnan(score)) {
      const double rank = layout_.tags[0].high ? -score : score;
      if (rows_.takes(rank)) rows_.add(rank, row(record, alt));
    }
}

VariantRanking::Row VariantRanking::row(const VariantRecord& record, size_t alt) const {
  Row out{{record.contig, record.pos - 1}, allele_name(record, alt), {}, address_of(record, alt), {}};
  if (layout_.assembly)
    for (auto& [name, address] :
         database_links(*layout_.assembly, record.contig, record.pos, record.ref, record.alts[alt]))
      out.links.push_back({std::move(name), std::move(address)});
  for (const Column& column : columns_) out.texts.push_back(column.text(record, alt));
  return out;
}

void VariantRanking::choose_columns() {
  using Record = const VariantRecord&;
  columns_ = {{{"CHROM", "Contig"}, [](Record r, size_t) { return cut_text(r.contig, kText); }},
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

Table VariantRanking::table() const {
  std::vector<Row> rows = rows_.sorted();
  const uint64_t scored = rows_.count();
  const ScoreTag& tag = layout_.tags[0];
  const std::string extreme = tag.extreme();
  Table out;
  out.brief = (tag.high ? "Highest scores: " : "Lowest scores: ") + tag.name;
  out.title = (tag.high ? "Highest scores: " : "Lowest scores: ") +
              (rows.size() < scored ? "the " + count_text(rows.size()) + " " + extreme + " of " +
                                          plural(scored, "allele") + " with a score (--top shows more)"
                                    : (scored == 1 ? "the only allele" : "all " + plural(scored, "allele")) +
                                          " with a score") +
              ", by " + tag.name + ", the " + extreme + " first";
  for (const Column& column : columns_) out.columns.push_back(column.head);
  out.search = true;
  out.addressed = 1;
  out.sorted = static_cast<int>(out.columns.size() - layout_.tags.size() - (options_.label.empty() ? 0 : 1));
  out.descending = layout_.tags[0].high;
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
std::vector<std::vector<Gene>> VariantRanking::genes_at(const std::vector<BasePlace>& places) const {
  if (options_.genes.empty() || places.empty()) return {};
  std::vector<GeneArea> areas;
  for (const BasePlace& place : places)
    areas.push_back({place.contig, place.pos + 1 - kLocusFlank, place.pos + 1 + kLocusFlank});
  GeneFile file = read_genes(options_.genes, areas);
  if (!file.known_sequence) return {};
  return std::move(file.genes);
}

// A column before the scores, by which the rows are sorted.
void VariantRanking::add_genes(const std::vector<BasePlace>& places,
                               const std::vector<std::vector<Gene>>& genes, Table& out) const {
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

void VariantRanking::add_loci(const std::vector<Row>& rows, const std::vector<BasePlace>& places,
                              const std::vector<std::vector<Gene>>& genes, Table& out) const {
  const std::vector<Surroundings> around = read_surroundings(options_.probabilities, places, kLocusFlank);
  for (size_t r = 0; r < rows.size(); ++r) {
    out.pictures.push_back(small_logo(around[r], places[r], kFlank));
    if (r < kMostLoci)
      out.loci.push_back(
          locus_data(around[r], places[r], rows[r].name, genes.empty() ? std::vector<Gene>{} : genes[r]));
  }
}

}  // namespace carbon
