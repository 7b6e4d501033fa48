// A column of a table that says more of each sequence, such as its species or its GC content.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace carbon {

class GroupTable {
 public:
  /// Reads a table with tabs between columns and a line of their names, which may begin with #. Its first
  /// column has the names of sequences. Empty values, "." and "NA" are none. Throws Error for a column that
  /// is not there or is there twice, lines of other lengths, and a name with two different values.
  GroupTable(const std::string& path, const std::string& column);

  /// The number of the sequence's value among values(), or nothing. Counts the name as found.
  std::optional<size_t> find(std::string_view name);

  /// Different values, in the order in which they first occur.
  const std::vector<std::string>& values() const { return values_; }
  /// If all values are numbers, and more than a few different whole ones: the values as numbers. Else empty:
  /// the values are names of groups.
  const std::vector<double>& numbers() const { return numbers_; }
  /// Names of the table that find() was never asked for.
  uint64_t unused() const { return entries_.size() - found_; }

 private:
  struct Entry {
    size_t value = 0;
    bool found = false;
  };
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  void add(std::string_view name, std::string_view value, const std::string& where);
  void find_numbers();

  std::vector<std::string> values_;
  std::vector<double> numbers_;
  std::unordered_map<std::string, Entry, Hash, std::equal_to<>> entries_;
  std::unordered_map<std::string, size_t, Hash, std::equal_to<>> value_numbers_;
  uint64_t found_ = 0;
};

}  // namespace carbon
