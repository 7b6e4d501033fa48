#include "src/report/sources/summaries.hpp"

#include <algorithm>
#include <cmath>

#include "src/base/json.hpp"
#include "src/base/letters.hpp"
#include "src/base/numbers.hpp"
#include "src/base/words.hpp"
#include "src/files/text_input.hpp"
#include "src/report/sources/input.hpp"
#include "src/report/sources/json_members.hpp"

namespace carbon {
namespace {

constexpr size_t kMostBytes = size_t{16} << 20;  // of JSON: a thousand chromosomes take less than one MiB
constexpr size_t kMostGroups = 1000;
constexpr int64_t kFarthest = 100'000'000;  // a bin of a score of a million
constexpr double kMost = 1e30;              // of a value, so that sums and floats of them are finite
constexpr uint64_t kMostCounted = uint64_t{1} << 53;
constexpr const char* kAreas[] = {"auroc", "auprc", "average_precision"};

double number_of(const TableReader& in, std::string_view text) {
  if (text == ".") return NAN;
  double value = 0;
  if (!parse_number(text, value) || !(std::abs(value) <= kMost))
    in.fail("'" + printable(text) + "' is not a number of usual size");
  return value;
}

SeparationMetric metric_of(const JsonMembers& from) {
  return {from.number_or_nan("value"), from.number_or_nan("low"), from.number_or_nan("high")};
}

// A chromosome has values alone, a stratum also their intervals.
std::vector<SeparationPart> parts_of(const JsonMembers& from, std::string_view key, bool intervals) {
  std::vector<SeparationPart> out;
  const size_t count = from.array(key).size();
  for (size_t i = 0; i < count; ++i) {
    const JsonMembers one = from.element(key, i);
    SeparationPart& part = out.emplace_back();
    part.name = one.text("name");
    part.positive = one.count("positive");
    part.negative = one.count("negative");
    for (const char* area : kAreas)
      part.metrics.push_back(intervals ? metric_of(one.object(area))
                                       : SeparationMetric{one.number_or_nan(area), NAN, NAN});
  }
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

}  // namespace

std::vector<std::string> read_summary(const std::string& path, size_t columns,
                                      const std::vector<size_t>& numbers,
                                      const std::function<void(const SummaryLine&)>& use) {
  TableReader in(path, "read_summary");
  in.read_header();
  SummaryLine line;
  uint64_t count = 0, total = 0;
  while (in.next()) {
    if (in.size() != columns)
      in.fail(plural(in.size(), "column") + ", and the first line has " + std::to_string(columns));
    if (!parse_number(in[numbers[0]], count) || count > kMostCounted || (total += count) > kMostCounted)
      in.fail("'" + printable(in[numbers[0]]) + "' is not a count");
    line.texts.clear();
    line.numbers.clear();
    for (size_t i = 0; i < columns; ++i) line.texts.push_back(in[i]);
    for (const size_t i : numbers) line.numbers.push_back(number_of(in, in[i]));
    use(line);
  }
  return in.header();
}

SeparationFile read_separation(const std::string& path) {
  const nlohmann::json document = parse_json(read_text(path, "read_json", kMostBytes), path);
  const JsonMembers all(document, path, "+auroc");
  SeparationFile out;
  out.score = all.text("score");
  out.label = all.text("label");
  out.negated = all.truth("negated");
  out.bootstrap = all.count("bootstrap");
  out.seed = all.count("seed");
  out.confidence = all.share("confidence");
  const JsonMembers metrics = all.object("metrics"), counts = all.object("counts");
  for (const char* name : {"auroc", "auprc", "average_precision", "auroc_by_chrom", "auprc_by_chrom",
                           "average_precision_by_chrom", "spearman"})
    if (metrics.has(name)) out.metrics.emplace_back(name, metric_of(metrics.object(name)));
  for (const char* name :
       {"alleles", "used", "positive", "negative", "missing_score", "missing_label", "other_label"})
    out.counts.emplace_back(name, counts.count(name));
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

}  // namespace carbon
