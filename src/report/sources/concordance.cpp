#include "src/report/sources/concordance.hpp"

#include <nlohmann/json.hpp>

#include "src/base/error.hpp"
#include "src/base/json.hpp"
#include "src/files/text_input.hpp"
#include "src/report/sources/json_members.hpp"

namespace carbon {
namespace {

using nlohmann::json;

constexpr size_t kMostBytes = size_t{16} << 20;    // a thousand strata take less than one MiB
constexpr size_t kMostStrata = 1000;               // as in +concord
constexpr double kMostAlleles = 9007199254740992;  // 2^53: all counts up to it are doubles

// A field in the range of its kind.
std::optional<double> read_field(const JsonMembers& from, const ConcordanceField& field) {
  const std::optional<double> value = from.optional_number(field.key);
  if (!value) return value;
  const auto check = [&](bool right, const char* range) {
    if (!right) from.refuse(from.name_of(field.key), range);
  };
  switch (field.kind) {
    case ConcordanceField::count:
      check(from.member(field.key).is_number_unsigned() && *value <= kMostAlleles, "a count or null");
      break;
    case ConcordanceField::share:
      check(*value >= 0 && *value <= 1, "a number from 0 to 1 or null");
      break;
    case ConcordanceField::correlation:
    case ConcordanceField::difference:
      check(*value >= -1 && *value <= 1, "a number from -1 to 1 or null");
      break;
    case ConcordanceField::distance:
      check(*value >= 0, "a number of at least 0 or null");
      break;
  }
  return value;
}

ConcordanceLine read_line(const JsonMembers& from, bool labelled) {
  ConcordanceLine out;
  out.name = from.text("name");
  for (const ConcordanceField& field : concordance_fields())
    out.values.push_back(field.labelled && !labelled ? std::nullopt : read_field(from, field));
  return out;
}

void read_strata(const JsonMembers& from, const std::string& path, bool labelled, ConcordanceFile& out) {
  out.by = from.text("by");
  const json& strata = from.array("strata");
  if (strata.size() > kMostStrata)
    throw Error("read_concordance",
                path + ": " + std::to_string(strata.size()) + " strata, of which at most 1000 are expected");
  for (size_t i = 0; i < strata.size(); ++i)
    out.lines.push_back(read_line(from.element("strata", i), labelled));
}

void read_bounds(const JsonMembers& from, ConcordanceFile& out) {
  const json& bounds = from.array("bounds");
  for (size_t i = 0; i < bounds.size(); ++i) {
    const JsonMembers one = from.element("bounds", i);
    out.bounds.push_back(
        {one.text("option"), one.number("bound"), one.optional_number("value"), one.truth("met")});
  }
}

}  // namespace

const std::vector<ConcordanceField>& concordance_fields() {
  using Field = ConcordanceField;
  static const std::vector<Field> fields = {
      {"alleles", "Alleles of A", Field::count, false, "alternative alleles of the first file"},
      {"n", "Compared", Field::count, false, "alleles with both scores"},
      {"only_a", "Only in A", Field::count, false, "alleles that only the first file has"},
      {"only_b", "Only in B", Field::count, false, "alleles that only the second file has"},
      {"missing_a", "Without A", Field::count, false, "alleles without score A"},
      {"missing_b", "Without B", Field::count, false, "alleles without score B"},
      {"missing_both", "Without both", Field::count, false, "alleles without both scores"},
      {"pearson", "Pearson", Field::correlation, false, "Pearson correlation"},
      {"spearman", "Spearman", Field::correlation, false, "Spearman rank correlation"},
      {"mean_abs_diff", "Mean absolute difference", Field::distance, false, "mean |A - B|"},
      {"max_abs_diff", "Largest absolute difference", Field::distance, false, "largest |A - B|"},
      {"overlap_1", "Overlap of 1 %", Field::share, false,
       "share of the lowest 1 % (of distances, as CARBON_L2, the highest) that both scores have in common"},
      {"overlap_5", "Overlap of 5 %", Field::share, false,
       "share of the lowest 5 % (of distances, as CARBON_L2, the highest) that both scores have in common"},
      {"positive", "Positive", Field::count, true, "alleles with both scores and a positive label"},
      {"negative", "Negative", Field::count, true, "alleles with both scores and a negative label"},
      {"missing_label", "Without label", Field::count, true, "alleles with both scores and no label"},
      {"other_label", "Other label", Field::count, true,
       "alleles with both scores and a label of neither class"},
      {"auroc_a", "AUROC of A", Field::share, true, "AUROC of score A"},
      {"auroc_b", "AUROC of B", Field::share, true, "AUROC of score B"},
      {"auroc_diff", "AUROC, B \u2212 A", Field::difference, true, "AUROC of B - AUROC of A"},
      {"auroc_diff_low", "Low (AUROC)", Field::difference, true,
       "lower end of the interval of the difference"},
      {"auroc_diff_high", "High (AUROC)", Field::difference, true,
       "upper end of the interval of the difference"},
      {"auprc_a", "AUPRC of A", Field::share, true, "area under the precision-recall curve of score A"},
      {"auprc_b", "AUPRC of B", Field::share, true, "area under the precision-recall curve of score B"},
      {"auprc_diff", "AUPRC, B \u2212 A", Field::difference, true, "AUPRC of B - AUPRC of A"},
      {"auprc_diff_low", "Low (AUPRC)", Field::difference, true,
       "lower end of the interval of the difference"},
      {"auprc_diff_high", "High (AUPRC)", Field::difference, true,
       "upper end of the interval of the difference"},
      {"average_precision_a", "Average precision of A", Field::share, true, "average precision of score A"},
      {"average_precision_b", "Average precision of B", Field::share, true, "average precision of score B"},
      {"average_precision_diff", "Average precision, B \u2212 A", Field::difference, true,
       "average precision of B - that of A"},
      {"average_precision_diff_low", "Low (Average precision)", Field::difference, true,
       "lower end of the interval of the difference"},
      {"average_precision_diff_high", "High (Average precision)", Field::difference, true,
       "upper end of the interval of the difference"}};
  return fields;
}

std::optional<double> ConcordanceLine::value(std::string_view key) const {
  const std::vector<ConcordanceField>& fields = concordance_fields();
  for (size_t i = 0; i < fields.size(); ++i)
    if (fields[i].key == key) return values[i];
  return std::nullopt;
}

ConcordanceFile read_concordance(const std::string& path) {
  const json document = parse_json(read_text(path, "read_json", kMostBytes), path);
  const JsonMembers all(document, path, "+concord");
  ConcordanceFile out;
  const JsonMembers a = all.object("a"), b = all.object("b");
  out.file_a = a.text("file");
  out.tag_a = a.text("tag");
  out.file_b = b.text("file");
  out.tag_b = b.text("tag");
  const bool labelled = all.has("label");
  if (labelled) {
    out.label = all.text("label");
    out.negated = all.truth("negated");
    out.bootstrap = all.count("bootstrap");
    out.seed = all.count("seed");
    out.confidence = all.share("confidence");
  }
  out.lines.push_back(read_line(all.object("all"), labelled));
  if (all.has("strata")) read_strata(all, path, labelled, out);
  read_bounds(all, out);
  return out;
}

}  // namespace carbon
