#include "src/report/sources/concordance.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

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
double read_field(const JsonMembers& from, const ConcordanceField& field) {
  const double value = from.number_or_nan(field.key);
  if (std::isnan(value)) return value;
  const auto check = [&](bool right, const char* range) {
    if (!right) from.refuse(from.name_of(field.key), range);
  };
  switch (field.kind) {
    case ConcordanceField::count:
      check(from.member(field.key).is_number_unsigned() && value <= kMostAlleles, "a count or null");
      break;
    case ConcordanceField::share:
      check(value >= 0 && value <= 1, "a number from 0 to 1 or null");
      break;
    case ConcordanceField::correlation:
    case ConcordanceField::difference:
      check(value >= -1 && value <= 1, "a number from -1 to 1 or null");
      break;
    case ConcordanceField::distance:
      check(value >= 0, "a number of at least 0 or null");
      break;
  }
  return value;
}

ConcordanceLine read_line(const JsonMembers& from, bool labelled) {
  ConcordanceLine out;
  out.name = from.text("name");
  for (const ConcordanceField& field : concordance_fields())
    out.values.push_back(field.labelled && !labelled ? NAN : read_field(from, field));
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
        {one.text("option"), one.number("bound"), one.number_or_nan("value"), one.truth("met")});
  }
}

}  // namespace

const std::vector<ConcordanceField>& concordance_fields() {
  using Field = ConcordanceField;
  static const std::vector<Field> fields = [] {
    std::vector<Field> out = {
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
        {"max_abs_diff", "Largest absolute difference", Field::distance, false, "largest |A - B|"}};
    for (const std::string percent : {"1", "5"})
      out.push_back({"overlap_" + percent, "Overlap of " + percent + " %", Field::share, false,
                     "share of the lowest " + percent +
                         " % (of distances, as CARBON_L2, the highest) that both scores have in common"});
    const std::string both = "alleles with both scores and ";
    out.insert(out.end(),
               {{"positive", "Positive", Field::count, true, both + "a positive label"},
                {"negative", "Negative", Field::count, true, both + "a negative label"},
                {"missing_label", "Without label", Field::count, true, both + "no label"},
                {"other_label", "Other label", Field::count, true, both + "a label of neither class"}});
    const std::pair<std::string, std::string> areas[] = {
        {"auroc", "AUROC"}, {"auprc", "AUPRC"}, {"average_precision", "Average precision"}};
    for (const auto& [key, name] : areas)
      out.insert(out.end(), {{key + "_a", name + " of A", Field::share, true, name + " of score A"},
                             {key + "_b", name + " of B", Field::share, true, name + " of score B"},
                             {key + "_diff", name + ", B \u2212 A", Field::difference, true,
                              name + " of B - " + name + " of A"},
                             {key + "_diff_low", "Low (" + name + ")", Field::difference, true,
                              "lower end of the interval of the difference"},
                             {key + "_diff_high", "High (" + name + ")", Field::difference, true,
                              "upper end of the interval of the difference"}});
    return out;
  }();
  return fields;
}

size_t concordance_place(std::string_view key) {
  const std::vector<ConcordanceField>& fields = concordance_fields();
  return static_cast<size_t>(
      std::find_if(fields.begin(), fields.end(), [&](const auto& field) { return field.key == key; }) -
      fields.begin());
}

double ConcordanceLine::value(std::string_view key) const {
  return values[concordance_place(key)];
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
