#include "src/report/sources/summaries.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "src/base/error.hpp"
#include "src/base/json.hpp"
#include "src/base/numbers.hpp"
#include "src/files/text_input.hpp"
#include "src/report/sources/input.hpp"

namespace carbon {
namespace {

constexpr size_t kMostBytes = size_t{16} << 20;  // of JSON: a thousand strata take less than one MiB
constexpr size_t kMostGroups = 1000;
constexpr int64_t kFarthest = 100'000'000;            // a bin of a score of a million
constexpr uint64_t kMostCounted = uint64_t{1} << 53;  // all counts up to it are doubles
constexpr size_t kMostStrata = 1000;                  // as in +concord
constexpr const char* kAreas[] = {"auroc", "auprc", "average_precision"};
using NamedKey = std::pair<const char*, const char*>;
constexpr NamedKey kMetrics[] = {{"auroc", "AUROC"},
                                 {"auprc", "AUPRC (trapezoidal)"},
                                 {"average_precision", "Average precision"},
                                 {"auroc_by_chrom", "AUROC, mean of chromosomes"},
                                 {"auprc_by_chrom", "AUPRC, mean of chromosomes"},
                                 {"average_precision_by_chrom", "Average precision, mean of chromosomes"},
                                 {"spearman", "Spearman rank correlation"}};
constexpr NamedKey kCounts[] = {{"alleles", "Alleles"},
                                {"used", "Alleles with score and label"},
                                {"positive", "Positive alleles"},
                                {"negative", "Negative alleles"},
                                {"missing_score", "Alleles without score"},
                                {"missing_label", "Alleles without label"},
                                {"other_label", "Alleles with a label of neither class"}};

// Reads members of an object, whose place in the file is `where`. `writer` is the command that writes such
// files, for messages. All functions throw Error, which names the file and the member.
class JsonMembers {
 public:
  JsonMembers(const nlohmann::json& object, const std::string& path, const char* writer,
              std::string where = "")
      : object_(object), path_(path), writer_(writer), where_(std::move(where)) {
    if (!object.is_object()) refuse(where_.empty() ? "the file" : where_, "an object");
  }

  bool has(std::string_view key) const { return object_.contains(key); }
  const nlohmann::json& member(std::string_view key) const {
    if (!has(key))
      throw Error("read_json",
                  path_ + ": " + name_of(key) + " is missing; expected the JSON of carbon " + writer_);
    return object_.at(std::string(key));
  }
  JsonMembers object(std::string_view key) const { return {member(key), path_, writer_, name_of(key)}; }
  // Calls `use` with each element of a list.
  template <class Use>
  void for_each(std::string_view key, Use use) const {
    const nlohmann::json& list = checked(key, &nlohmann::json::is_array, "a list");
    for (size_t i = 0; i < list.size(); ++i)
      use(JsonMembers(list[i], path_, writer_, name_of(key) + "[" + std::to_string(i) + "]"));
  }
  std::string text(std::string_view key) const { return checked(key, &nlohmann::json::is_string, "a text"); }
  bool truth(std::string_view key) const {
    return checked(key, &nlohmann::json::is_boolean, "true or false");
  }
  uint64_t count(std::string_view key) const {
    return checked(key, &nlohmann::json::is_number_unsigned, "a whole number of at least 0");
  }
  double number(std::string_view key, const char* wanted = "a number") const {
    const double value = checked(key, &nlohmann::json::is_number, wanted);
    if (!std::isfinite(value)) refuse(name_of(key), "a finite number");
    return value;
  }
  double share(std::string_view key) const {
    const double value = number(key);
    if (!(value >= 0 && value <= 1)) refuse(name_of(key), "a number from 0 to 1");
    return value;
  }
  // NaN for null.
  double number_or_nan(std::string_view key) const {
    return member(key).is_null() ? NAN : number(key, "a number or null");
  }

  [[noreturn]] void refuse(const std::string& what, const std::string& wanted) const {
    throw Error("read_json",
                path_ + ": " + what + " is not " + wanted + ", as in the JSON of carbon " + writer_);
  }
  std::string name_of(std::string_view key) const {
    return where_ + (where_.empty() ? "" : ".") + std::string(key);
  }

 private:
  // The member, if it is of the kind that is wanted.
  const nlohmann::json& checked(std::string_view key, bool (nlohmann::json::*is)() const,
                                const char* wanted) const {
    if (!(member(key).*is)()) refuse(name_of(key), wanted);
    return member(key);
  }

  const nlohmann::json& object_;
  const std::string& path_;
  const char* writer_;
  std::string where_;
};

JudgedLabel label_of(const JsonMembers& from) {
  return {from.text("label"), from.truth("negated"), from.count("bootstrap"), from.count("seed"),
          from.share("confidence")};
}

SeparationMetric metric_of(const JsonMembers& from) {
  return {from.number_or_nan("value"), from.number_or_nan("low"), from.number_or_nan("high")};
}

// A chromosome has values alone, a stratum also their intervals.
std::vector<SeparationPart> parts_of(const JsonMembers& from, std::string_view key, bool intervals) {
  std::vector<SeparationPart> out;
  from.for_each(key, [&](const JsonMembers& one) {
    SeparationPart& part =
        out.emplace_back(SeparationPart{one.text("name"), one.count("positive"), one.count("negative"), {}});
    for (const char* area : kAreas)
      part.metrics.push_back(intervals ? metric_of(one.object(area))
                                       : SeparationMetric{one.number_or_nan(area), NAN, NAN});
  });
  return out;
}

// The element of this name, which is made if it is missing.
template <class Named>
Named& named(std::vector<Named>& list, const TableReader& in, const std::string& name) {
  const auto found =
      std::find_if(list.begin(), list.end(), [&](const Named& one) { return one.name == name; });
  if (found != list.end()) return *found;
  if (list.size() == kMostGroups) in.fail("the histogram has more than 1,000 groups");
  return list.emplace_back(Named{name, {}});
}

// What the values of each kind of field are, in the order of ConcordanceField::Kind.
constexpr struct {
  double least, most;
  const char* words;
} kFieldKinds[] = {{0, kMostCounted, "a count or null"},
                   {0, 1, "a number from 0 to 1 or null"},
                   {-1, 1, "a number from -1 to 1 or null"},
                   {-1, 1, "a number from -1 to 1 or null"},
                   {0, INFINITY, "a number of at least 0 or null"}};

double read_field(const JsonMembers& from, const ConcordanceField& field) {
  const double value = from.number_or_nan(field.key);
  const auto& [least, most, words] = kFieldKinds[field.kind];
  const bool whole = from.member(field.key).is_number_unsigned();
  const bool right = value >= least && value <= most && (whole || field.kind != ConcordanceField::count);
  if (!std::isnan(value) && !right) from.refuse(from.name_of(field.key), words);
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
  if (const size_t count = from.member("strata").size(); count > kMostStrata)
    throw Error("read_concordance",
                path + ": " + std::to_string(count) + " strata, of which at most 1000 are expected");
  from.for_each("strata", [&](const JsonMembers& one) { out.lines.push_back(read_line(one, labelled)); });
}

}  // namespace

std::vector<std::string> read_summary(const std::string& path, size_t columns,
                                      const std::vector<size_t>& numbers,
                                      const std::function<void(const SummaryLine&)>& use) {
  TableReader in(path, "read_summary");
  in.read_header();
  SummaryLine line;
  uint64_t count = 0, total = 0;
  while (in.next()) {
    in.expect_columns(columns);
    if (!parse_number(in[numbers[0]], count) || count > kMostCounted || (total += count) > kMostCounted)
      in.refuse(numbers[0], "is not a count");
    line.texts.clear();
    line.numbers.clear();
    for (size_t i = 0; i < columns; ++i) line.texts.push_back(in[i]);
    for (const size_t i : numbers) line.numbers.push_back(in.number(i));
    use(line);
  }
  return in.header();
}

SeparationFile read_separation(const std::string& path) {
  const nlohmann::json document = parse_json(read_text(path, "read_json", kMostBytes), path);
  const JsonMembers all(document, path, "+auroc");
  SeparationFile out;
  out.score = all.text("score");
  out.label = label_of(all);
  const JsonMembers metrics = all.object("metrics"), counts = all.object("counts");
  for (const auto& [key, name] : kMetrics)
    if (metrics.has(key)) out.metrics.push_back({key, name, metric_of(metrics.object(key))});
  for (const auto& [key, name] : kCounts) out.counts.push_back({key, name, counts.count(key)});
  if (all.has("strata")) {
    out.by = all.text("by");
    out.strata = parts_of(all, "strata", true);
  }
  out.chromosomes = parts_of(all, "chromosomes", false);
  return out;
}

HistogramFileCounts read_histogram(const std::string& path) {
  TableReader in(path, "read_histogram");
  in.read_header();
  HistogramFileCounts out;
  const bool scan = in.line().starts_with("#TRI");
  uint64_t total = 0;
  while (in.next()) {
    if (in.line() == (scan ? "#TRI\tALT\tBIN\tCOUNT" : "#TAG\tTYPE\tBIN\tCOUNT") ||
        in.line().starts_with("##"))
      continue;  // shares of a run are joined by cat
    int64_t bin = 0;
    uint64_t count = 0;
    if (in.size() != 4 || !parse_number(in[2], bin) || !parse_number(in[3], count) || bin < -kFarthest ||
        bin > kFarthest || count > kMostCounted || (scan && in[0].size() != 3 && in[0] != "."))
      in.fail("this is not a line of a histogram, which has two names, a bin and a count");
    if ((total += count) > kMostCounted) in.fail("the counts of the histogram are too large");
    if (count == 0) continue;
    const std::string tag = scan ? "CARBON_SCAN" : std::string(in[0]);
    // At the ends of a contig there are no three letters.
    const std::string group = !scan          ? std::string(in[1])
                              : in[0] == "." ? "at an end"
                                             : std::string(1, in[0][1]) + ">" + std::string(in[1]);
    named(named(out.tags, in, tag).groups, in, group).bins[bin] += count;
  }
  out.header = in.header();
  return out;
}

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
  const nlohmann::json document = parse_json(read_text(path, "read_json", kMostBytes), path);
  const JsonMembers all(document, path, "+concord");
  ConcordanceFile out;
  const JsonMembers a = all.object("a"), b = all.object("b");
  out.file_a = a.text("file"), out.tag_a = a.text("tag");
  out.file_b = b.text("file"), out.tag_b = b.text("tag");
  const bool labelled = all.has("label");
  if (labelled) out.label = label_of(all);
  out.lines.push_back(read_line(all.object("all"), labelled));
  if (all.has("strata")) read_strata(all, path, labelled, out);
  all.for_each("bounds", [&](const JsonMembers& one) {
    out.bounds.push_back(
        {one.text("option"), one.number("bound"), one.number_or_nan("value"), one.truth("met")});
  });
  return out;
}

}  // namespace carbon
