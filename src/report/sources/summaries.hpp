// What commands write of many scores in sum: the table of carbon score, a line a sequence; that of
// +gene-summary, a line a region; the JSON of +auroc and +concord; and histograms of scan and vep.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace carbon {

/// A line of such a table: its texts, and the numbers of the columns that were asked for; NaN for a point.
struct SummaryLine {
  std::vector<std::string_view> texts;
  std::vector<double> numbers;
};

/// Calls `use` with each line, whose columns `numbers` are a count, and numbers or a point. Returns the
/// header lines of carbon. Throws Error, which names the line, for other texts and for another number of
/// columns.
std::vector<std::string> read_summary(const std::string& path, size_t columns,
                                      const std::vector<size_t>& numbers,
                                      const std::function<void(const SummaryLine&)>& use);

/// The label of a file of JSON, and the intervals of what it says of scores.
struct JudgedLabel {
  std::string expression;
  bool negated = false;  // low scores speak for it
  uint64_t bootstrap = 0, seed = 0;
  double confidence = 0;
};

/// A metric with the ends of its interval; NaN where the file has null.
struct SeparationMetric {
  double value = NAN, low = NAN, high = NAN;
};
/// What a file says of all alleles, by the key in the file and the name on a page.
template <class Value>
struct NamedValue {
  std::string key, name;
  Value value;
};
/// A chromosome or a stratum: AUROC, AUPRC and average precision.
struct SeparationPart {
  std::string name;
  uint64_t positive = 0, negative = 0;
  std::vector<SeparationMetric> metrics;
};
struct SeparationFile {
  std::string score, by;  // by: what makes the strata, "" without
  JudgedLabel label;
  std::vector<NamedValue<SeparationMetric>> metrics;
  std::vector<NamedValue<uint64_t>> counts;
  std::vector<SeparationPart> strata, chromosomes;
};
/// The JSON of +auroc. Throws Error, which names the member.
SeparationFile read_separation(const std::string& path);

/// Counts of the bins of a hundredth, by the name of a score and of a group of alleles, both in the order of
/// the file.
struct HistogramFileCounts {
  struct Group {
    std::string name;
    std::map<int64_t, uint64_t> bins;
  };
  struct Tag {
    std::string name;
    std::vector<Group> groups;
  };
  std::vector<Tag> tags;
  std::vector<std::string> header;
};
/// A histogram of vep, by type, or of scan, by substitution. Throws Error.
HistogramFileCounts read_histogram(const std::string& path);

// The JSON of +concord: the agreement of two scores, of all alleles and of strata of them.

/// A field of a stratum, in the order of the file.
struct ConcordanceField {
  std::string key, name;  // as the file and as a table has it
  enum Kind { count, share, correlation, difference, distance } kind;
  bool labelled;  // only in files with a label
  std::string about;
};
const std::vector<ConcordanceField>& concordance_fields();
/// The place of a key among them.
size_t concordance_place(std::string_view key);

struct ConcordanceLine {
  std::string name;            // "all" or that of the stratum
  std::vector<double> values;  // of concordance_fields(); NaN for one that is undefined or absent; counts
                               // are whole and at most 2^53

  /// Of a key of concordance_fields().
  double value(std::string_view key) const;
};

struct ConcordanceBound {
  std::string option;
  double bound = 0;
  double value = 0;  // NaN if it is undefined
  bool met = false;
};

struct ConcordanceFile {
  std::string file_a, tag_a, file_b, tag_b;
  std::optional<JudgedLabel> label;
  std::string by;                      // "" without
  std::vector<ConcordanceLine> lines;  // all alleles, then the strata
  std::vector<ConcordanceBound> bounds;
};

/// Throws Error, which names the file and the member, for JSON of another form.
ConcordanceFile read_concordance(const std::string& path);

}  // namespace carbon
