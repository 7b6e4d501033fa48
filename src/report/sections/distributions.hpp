// The scores of alleles, all and by group, from a file that is read twice.
//
// Counts only; variant_figures draws them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "src/report/sections/score_bins.hpp"
#include "src/report/sections/score_summary.hpp"
#include "src/report/sections/variant_groups.hpp"
#include "src/report/sources/variants.hpp"

namespace carbon {

enum class Grouping { all, type, filter, consequence };
inline constexpr size_t kGroupings = 4;

struct ScoreGroup {
  std::string name;
  uint64_t alleles = 0;  // with and without a score
  ScoreSummary scores;
  BinCounts bins;
};

class VariantDistributions {
 public:
  /// Groups of one kind that are kept apart at the end; the others are joined.
  static constexpr size_t kShown = 12;

  explicit VariantDistributions(const VariantLayout& layout);

  /// The first time, for each record.
  void add(const VariantRecord& record);
  /// Chooses the groups and bins.
  void end_first();
  /// The second time, for each record. Throws Error if the file has changed.
  void add_again(const VariantRecord& record);

  /// Whether the alleles differ in this, so that there is something to compare.
  bool has(Grouping grouping) const;
  /// At the end: the groups of a tag that have alleles, in the order in which they are shown.
  const std::vector<ScoreGroup>& groups(size_t tag, Grouping grouping) const;
  const ScoreBins& bins(size_t tag) const { return tags_[tag].bins; }

 private:
  struct Grouped {
    std::vector<ScoreGroup> groups;  // by number of the name; at the end those that are shown
    std::vector<size_t> shown;       // for each number, which of those
  };
  struct Tag {
    std::array<Grouped, kGroupings> by;
    ScoreBins bins;
  };

  std::array<size_t, kGroupings> numbers(const VariantRecord& record, size_t filter, size_t alt);
  template <class Use>
  void for_alleles(const VariantRecord& record, Use use);
  void choose(Grouping grouping, Grouped& grouped) const;

  bool filters_, consequences_;
  std::array<GroupNames, kGroupings> names_;
  std::vector<Tag> tags_;
};

}  // namespace carbon
