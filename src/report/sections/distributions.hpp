// The scores of alleles, all and by group: numbers of values, means, extremes, quartiles, and counts in bins;
// and histograms of them, one of all and one row for each group.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "src/report/drawing/document.hpp"
#include "src/report/sources/variants.hpp"

namespace carbon {

/// Numbers for names. A file may have any number of different ones, so those after the first `most` share a
/// number.
class GroupNames {
 public:
  static constexpr size_t kMost = 256;

  /// The names of `first` have the numbers from 0.
  explicit GroupNames(const std::vector<std::string>& first = {}, size_t most = kMost);
  /// The number of a name, `most` for one that is not kept.
  size_t number(const std::string& name);
  const std::vector<std::string>& names() const { return names_; }

 private:
  size_t most_;
  std::unordered_map<std::string, size_t> numbers_;
  std::vector<std::string> names_;
};

/// What tags, whose names may have points and letters of any kind, add to the names of their figures. All
/// differ. `name_of` is a function or a member.
template <class Tags = std::vector<std::string>, class NameOf = std::identity>
std::vector<std::string> figure_parts(const Tags& tags, NameOf name_of = {}) {
  std::vector<std::string> out;
  TakenNames taken;
  for (const auto& tag : tags) out.push_back(free_name("_" + plain_name(std::invoke(name_of, tag)), taken));
  return out;
}

/// Bins whose edges are multiples of a step of 1, 2 or 5 times a power of ten. A bin has the values from its
/// lower edge up to, but not including, its upper edge; the last one has its upper edge, too.
class ScoreBins {
 public:
  ScoreBins() = default;
  /// About 60 to 130 bins that hold `least` and `most`. The two may be equal.
  ScoreBins(double least, double most);

  size_t size() const { return edges_.empty() ? 0 : edges_.size() - 1; }
  /// The edges 0 to size(): the double that is nearest to the decimal number.
  double edge(size_t i) const { return edges_[i]; }
  double width() const;
  /// The bin of a value, -1 below all, size() above all.
  int64_t find(double value) const;

 private:
  std::vector<double> edges_;
  int factor_ = 1, power_ = 0;  // the step
};

/// Counts in bins, and beside them.
struct BinCounts {
  std::vector<uint64_t> counts;
  uint64_t below = 0, above = 0;
};

/// What some scores say in sum. Without scores all but the number is NaN.
struct ScoreSummary {
  uint64_t count = 0;
  double mean = NAN, least = NAN, most = NAN;
  /// Linear between the two nearest values, as numpy.quantile has them; the second is the median.
  std::array<double, 3> quartiles = {NAN, NAN, NAN};

  ScoreSummary() = default;
  /// Sorts the scores, none of which is NaN.
  explicit ScoreSummary(std::vector<float>& scores);
};

/// Bins for these scores. A few extreme ones would make all others a single bar: they lie beside the bins, as
/// middle_of() says.
ScoreBins bins_for(const std::vector<float>& scores);

enum class Grouping { all, type, filter, consequence };
inline constexpr size_t kGroupings = 4;

struct ScoreGroup {
  std::string name;
  uint64_t alleles = 0;  // with and without a score
  ScoreSummary scores;
  BinCounts bins;
};

/// The group of these scores, which it sorts, and of `missing` alleles without one.
ScoreGroup score_group(std::string name, std::vector<float>& scores, const ScoreBins& bins,
                       uint64_t missing = 0);

class VariantDistributions {
 public:
  /// Groups of one kind that are kept apart at the end; the others are joined.
  static constexpr size_t kShown = 12;

  explicit VariantDistributions(const VariantLayout& layout);

  /// Keeps 8 bytes for each allele, and 4 for each of its scores.
  void add(const VariantRecord& record);
  /// After the last record: chooses groups and bins, and counts.
  void finish();

  /// Whether the alleles differ in this, so that there is something to compare.
  bool has(Grouping grouping) const;
  /// The groups of a tag that have alleles, in the order in which they are shown.
  const std::vector<ScoreGroup>& groups(size_t tag, Grouping grouping) const;
  const ScoreBins& bins(size_t tag) const { return tags_[tag].bins; }
  /// The scores of a tag, for the comparison with other files.
  Sample sample(size_t tag, const ScoreTag& of) const;

 private:
  struct Tag {
    std::vector<float> scores;  // of all alleles; NaN for a missing one
    ScoreBins bins;
    std::array<std::vector<ScoreGroup>, kGroupings> groups;
  };
  struct Shown;

  Shown choose(const Tag& tag, size_t grouping) const;
  std::vector<ScoreGroup> summarise(const Tag& tag, size_t grouping, const ScoreGroup& all) const;

  bool filters_, consequences_;
  std::array<GroupNames, kGroupings> names_;
  std::vector<std::array<uint16_t, kGroupings>> alleles_;  // for each allele the numbers of its groups' names
  std::vector<Tag> tags_;
};

/// What a figure of a tag is about.
struct ScoreFigure {
  std::string name;    // of the figure
  std::string sample;  // the name of the file
  ScoreTag tag;
  std::string item = "alternative allele";  // what has a score
};

/// The histogram of all scores, at least one, with median and quartiles.
Figure score_histogram(const ScoreFigure& about, const ScoreGroup& all, const ScoreBins& bins);
/// A histogram for each group that has scores, at least one, one below the other, with median and quartiles.
/// `by` is what makes the groups, e.g. "FILTER".
Figure score_rows(const ScoreFigure& about, const std::string& by, const std::vector<ScoreGroup>& groups,
                  const ScoreBins& bins);

struct NamedGroups {
  std::string by;  // "" for all alleles together
  const std::vector<ScoreGroup>* groups;
};
/// Numbers of values, means, extremes and quartiles of all groups; of `about` only tag and item count.
Table score_table(const ScoreFigure& about, const std::vector<NamedGroups>& all);

}  // namespace carbon
