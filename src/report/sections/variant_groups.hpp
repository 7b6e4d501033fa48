// The groups of alleles whose scores are compared: their names, in the order in which a file has them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace carbon {

/// Numbers for names. A file may have any number of different ones, so those after the first kMost share a
/// number, and of a long name the beginning counts.
class GroupNames {
 public:
  static constexpr size_t kMost = 256, kLength = 200;

  /// The names of `first` have the numbers from 0.
  explicit GroupNames(const std::vector<std::string>& first = {});
  /// The number of a name, kMost for one that is not kept.
  size_t number(std::string_view name);
  const std::vector<std::string>& names() const { return names_; }

 private:
  std::map<std::string, size_t, std::less<>> numbers_;
  std::vector<std::string> names_;
};

/// Text of a file in a place that is not wide: after `most` bytes it ends in an ellipsis.
std::string cut_text(std::string_view text, size_t most);
/// An allele in a table: a long one is shortened, and its number of letters follows.
std::string allele_text(const std::string& allele);

/// "1 allele", "2,000 alleles".
std::string counted(uint64_t count, const std::string& word);
/// What tags, which may have points and letters of any kind, add to the names of their figures. All differ.
std::vector<std::string> figure_parts(const std::vector<std::string>& tags);

}  // namespace carbon
