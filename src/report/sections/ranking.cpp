#include "src/report/sections/ranking.hpp"

#include <algorithm>
#include <cmath>

#include "src/formats/vcf.hpp"
#include "src/report/sections/small_logo.hpp"
#include "src/report/sections/variant_groups.hpp"

namespace carbon {
namespace {

constexpr size_t kText = 60;  // of texts that a file may make as long as it likes
constexpr size_t kFlank = 7;  // bases of a logo on each side of POS

const char* verdict_text(LabelJudge::Verdict verdict) {
  switch (verdict) {
    case LabelJudge::Verdict::positive:
      return "positive";
    case LabelJudge::Verdict::negative:
      return "negative";
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

}  // namespace

bool VariantRanking::Row::operator<(const Row& other) const {
  return score != other.score ? score < other.score : number < other.number;
}

VariantRanking::VariantRanking(const VariantLayout& layout, const ReportOptions& options)
    : layout_(layout), options_(options) {}

void VariantRanking::add(const VariantRecord& record) {
  for (size_t alt = 0; alt < record.alts.size(); ++alt) {
    const float score = record.scores[0][alt];
    const uint64_t number = alleles_++;
    if (std::isnan(score) || options_.top == 0) continue;
    if (rows_.size() == options_.top) {
      // A later allele of an equal score ranks behind.
      if (!(score < rows_.front().score)) continue;
      std::pop_heap(rows_.begin(), rows_.end());
      rows_.pop_back();
    }
    rows_.push_back(row(record, alt));
    rows_.back().number = number;
    std::push_heap(rows_.begin(), rows_.end());
  }
}

VariantRanking::Row VariantRanking::row(const VariantRecord& record, size_t alt) const {
  Row out{record.scores[0][alt], 0, record.contig, record.pos, {}};
  out.texts = {cut_text(record.contig, kText), std::to_string(record.pos),    cut_text(record.id, kText),
               allele_text(record.ref),        allele_text(record.alts[alt]), std::string(record.types[alt])};
  if (!layout_.table) out.texts.push_back(cut_text(record.filter, kText));
  if (!layout_.consequence_tag.empty()) {
    const Consequence& consequence = record.consequences[alt];
    out.texts.push_back(consequence.term.empty() ? "." : cut_text(consequence.term, kText));
    out.texts.push_back(consequence.gene.empty() ? "." : cut_text(consequence.gene, kText));
  }
  for (const std::vector<float>& scores : record.scores) out.texts.push_back(score_text(scores[alt]));
  if (!record.labels.empty()) out.texts.emplace_back(verdict_text(record.labels[alt]));
  return out;
}

std::vector<TableColumn> VariantRanking::columns() const {
  std::vector<TableColumn> out = {{"CHROM", "Contig"},
                                  {"POS", "Position of the first base of REF, from 1", true},
                                  {"ID"},
                                  {"REF", "Reference allele"},
                                  {"ALT", "Alternative allele"},
                                  {"Type", "What the alternative changes"}};
  if (!layout_.table) out.push_back({"FILTER"});
  if (const std::string& tag = layout_.consequence_tag; !tag.empty()) {
    out.push_back({"Consequence", "The most severe one for this allele in " + tag});
    out.push_back({"Gene", "The gene of this consequence in " + tag});
  }
  for (const ScoreTag& tag : layout_.tags)
    out.push_back({tag.name, tag.unit.empty() ? "Score" : "Score in " + tag.unit, true});
  if (!options_.label.empty()) out.push_back({"Label", options_.label});
  return out;
}

Table VariantRanking::table() const {
  std::vector<Row> rows = rows_;
  std::sort(rows.begin(), rows.end());
  Table out;
  out.title = "Lowest scores: " + counted(rows.size(), "allele") + " by " + layout_.tags[0].name +
              ", the lowest first";
  out.columns = columns();
  out.search = true;
  std::vector<BasePlace> places;
  for (Row& row : rows) {
    places.push_back({std::move(row.contig), row.pos - 1});
    out.rows.push_back(std::move(row.texts));
  }
  if (!options_.probabilities.empty()) out.pictures = small_logos(options_.probabilities, places, kFlank);
  return out;
}

}  // namespace carbon
