#include "src/report/sources/concordance.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "src/base/error.hpp"
#include "src/base/json.hpp"
#include "src/files/text_input.hpp"

namespace carbon {
namespace {

using nlohmann::json;

constexpr size_t kMostBytes = size_t{16} << 20;    // a thousand strata take less than one MiB
constexpr size_t kMostStrata = 1000;               // as in +concord
constexpr double kMostAlleles = 9007199254740992;  // 2^53: all counts up to it are doubles

// Reads members of an object, whose place in the file is `where`.
class Members {
 public:
  Members(const json& object, const std::string& path, std::string where)
      : object_(object), path_(path), where_(std::move(where)) {
    if (!object.is_object()) refuse(where_.empty() ? "the file" : where_, "an object");
  }

  bool has(std::string_view key) const { return object_.contains(key); }
  const json& member(std::string_view key) const {
    if (!has(key))
      throw Error("read_concordance",
                  path_ + ": " + name_of(key) + " is missing; expected the JSON of carbon +concord");
    return object_.at(std::string(key));
  }
  Members object(std::string_view key) const { return {member(key), path_, name_of(key)}; }
  const json& array(std::string_view key) const {
    if (!member(key).is_array()) refuse(name_of(key), "a list");
    return member(key);
  }
  std::string text(std::string_view key) const {
    if (!member(key).is_string()) refuse(name_of(key), "a text");
    return member(key).get<std::string>();
  }
  bool truth(std::string_view key) const {
    if (!member(key).is_boolean()) refuse(name_of(key), "true or false");
    return member(key).get<bool>();
  }
  double number(std::string_view key) const {
    if (!member(key).is_number()) refuse(name_of(key), "a number");
    return finite(key);
  }
  uint64_t count(std::string_view key) const {
    if (!member(key).is_number_unsigned()) refuse(name_of(key), "a whole number of at least 0");
    return member(key).get<uint64_t>();
  }
  double share(std::string_view key) const {
    const double value = number(key);
    if (!(value >= 0 && value <= 1)) refuse(name_of(key), "a number from 0 to 1");
    return value;
  }
  // Nothing for null.
  std::optional<double> optional_number(std::string_view key) const {
    if (member(key).is_null()) return std::nullopt;
    if (!member(key).is_number()) refuse(name_of(key), "a number or null");
    return finite(key);
  }
  // A field in the range of its kind.
  std::optional<double> field(const ConcordanceField& field) const {
    const std::optional<double> value = optional_number(field.key);
    if (!value) return value;
    const auto check = [&](bool right, const char* range) {
      if (!right) refuse(name_of(field.key), range);
    };
    switch (field.kind) {
      case ConcordanceField::count:
        check(member(field.key).is_number_unsigned() && *value <= kMostAlleles, "a count or null");
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

 private:
  std::string name_of(std::string_view key) const {
    return where_ + (where_.empty() ? "" : ".") + std::string(key);
  }
  double finite(std::string_view key) const {
    const auto value = member(key).get<double>();
    if (!std::isfinite(value)) refuse(name_of(key), "a finite number");
    return value;
  }
  [[noreturn]] void refuse(const std::string& what, const std::string& wanted) const {
    throw Error("read_concordance",
                path_ + ": " + what + " is not " + wanted + ", as in the JSON of carbon +concord");
  }

  const json& object_;
  const std::string& path_;
  std::string where_;
};

ConcordanceLine read_line(const Members& from, bool labelled) {
  ConcordanceLine out;
  out.name = from.text("name");
  for (const ConcordanceField& field : concordance_fields())
    out.values.push_back(field.labelled && !labelled ? std::nullopt : from.field(field));
  return out;
}

void read_strata(const Members& from, const std::string& path, bool labelled, ConcordanceFile& out) {
  out.by = from.text("by");
  const json& strata = from.array("strata");
  if (strata.size() > kMostStrata)
    throw Error("read_concordance",
                path + ": " + std::to_string(strata.size()) + " strata, of which at most 1000 are expected");
  for (size_t i = 0; i < strata.size(); ++i)
    out.lines.push_back(read_line(Members(strata[i], path, "strata[" + std::to_string(i) + "]"), labelled));
}

void read_bounds(const Members& from, const std::string& path, ConcordanceFile& out) {
  const json& bounds = from.array("bounds");
  for (size_t i = 0; i < bounds.size(); ++i) {
    const Members one(bounds[i], path, "bounds[" + std::to_string(i) + "]");
    out.bounds.push_back(
        {one.text("option"), one.number("bound"), one.optional_number("value"), one.truth("met")});
  }
}

}  // namespace

const std::vector<ConcordanceField>& concordance_fields() {
  using Field = ConcordanceField;
  static const std::vector<Field> fields = {
      {"alleles", Field::count, false, "alternative alleles of the first file"},
      {"n", Field::count, false, "alleles with both scores"},
      {"only_a", Field::count, false, "alleles that only the first file has"},
      {"only_b", Field::count, false, "alleles that only the second file has"},
      {"missing_a", Field::count, false, "alleles without score A"},
      {"missing_b", Field::count, false, "alleles without score B"},
      {"missing_both", Field::count, false, "alleles without both scores"},
      {"pearson", Field::correlation, false, "Pearson correlation"},
      {"spearman", Field::correlation, false, "Spearman rank correlation"},
      {"mean_abs_diff", Field::distance, false, "mean |A - B|"},
      {"max_abs_diff", Field::distance, false, "largest |A - B|"},
      {"overlap_1", Field::share, false, "share of the lowest 1 % that both scores have in common"},
      {"overlap_5", Field::share, false, "share of the lowest 5 % that both scores have in common"},
      {"positive", Field::count, true, "alleles with both scores and a positive label"},
      {"negative", Field::count, true, "alleles with both scores and a negative label"},
      {"missing_label", Field::count, true, "alleles with both scores and no label"},
      {"other_label", Field::count, true, "alleles with both scores and a label of neither class"},
      {"auroc_a", Field::share, true, "AUROC of score A"},
      {"auroc_b", Field::share, true, "AUROC of score B"},
      {"auroc_diff", Field::difference, true, "AUROC of B - AUROC of A"},
      {"auroc_diff_low", Field::difference, true, "lower end of the interval of the difference"},
      {"auroc_diff_high", Field::difference, true, "upper end of the interval of the difference"},
      {"auprc_a", Field::share, true, "area under the precision-recall curve of score A"},
      {"auprc_b", Field::share, true, "area under the precision-recall curve of score B"},
      {"auprc_diff", Field::difference, true, "AUPRC of B - AUPRC of A"},
      {"auprc_diff_low", Field::difference, true, "lower end of the interval of the difference"},
      {"auprc_diff_high", Field::difference, true, "upper end of the interval of the difference"},
      {"average_precision_a", Field::share, true, "average precision of score A"},
      {"average_precision_b", Field::share, true, "average precision of score B"},
      {"average_precision_diff", Field::difference, true, "average precision of B - that of A"},
      {"average_precision_diff_low", Field::difference, true, "lower end of the interval of the difference"},
      {"average_precision_diff_high", Field::difference, true,
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
  const Members all(document, path, "");
  ConcordanceFile out;
  const Members a = all.object("a"), b = all.object("b");
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
  read_bounds(all, path, out);
  return out;
}

}  // namespace carbon
