#include "src/report/sources/group_table.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "src/base/error.hpp"
#include "src/base/json.hpp"
#include "src/files/text_input.hpp"

namespace carbon {
namespace {

constexpr const char* kFunction = "read_groups";
constexpr size_t kFewWholeNumbers =
    8;  // different whole numbers that are names of groups, such as those of clusters
constexpr size_t kNoValue = static_cast<size_t>(-1);

std::vector<std::string_view> fields_of(std::string_view line) {
  std::vector<std::string_view> out;
  for (size_t begin = 0; begin <= line.size();) {
    const size_t end = std::min(line.find('\t', begin), line.size());
    out.push_back(line.substr(begin, end - begin));
    begin = end + 1;
  }
  return out;
}

size_t column_number(const std::vector<std::string_view>& names, const std::string& column,
                     const std::string& where) {
  std::string known;
  size_t found = 0;
  for (size_t i = 1; i < names.size(); ++i) {
    known += (known.empty() ? "" : ", ") + printable(names[i]);
    if (names[i] != column) continue;
    if (found != 0) throw Error(kFunction, where + ": two columns are named '" + printable(column) + "'");
    found = i;
  }
  if (found != 0) return found;
  throw Error(kFunction, where + ": no column '" + printable(column) +
                             "' after the first, which has the names of sequences; " +
                             (known.empty() ? "there are no further columns; are they separated by tabs?"
                                            : "the columns are " + known));
}

}  // namespace

GroupTable::GroupTable(const std::string& path, const std::string& column) {
  TextInput input(path, kFunction);
  std::string line;
  if (!input.line(line)) throw Error(kFunction, path + ": the table of groups is empty");
  std::string_view header = line;
  if (header.starts_with('#')) header.remove_prefix(1);
  const std::vector<std::string_view> names = fields_of(header);
  const size_t wanted = column_number(names, column, input.where()), columns = names.size();
  while (input.line(line)) {
    if (line.empty()) continue;
    const std::vector<std::string_view> fields = fields_of(line);
    if (fields.size() != columns)
      throw Error(kFunction, input.where() + ": the line has " + std::to_string(fields.size()) +
                                 " columns, and the first line has " + std::to_string(columns));
    add(fields[0], fields[wanted], input.where());
  }
  value_numbers_.clear();
  find_numbers();
}

void GroupTable::add(std::string_view name, std::string_view value, const std::string& where) {
  Entry entry{kNoValue};
  if (!value.empty() && value != "." && value != "NA") {
    const auto [known, added] = value_numbers_.try_emplace(std::string(value), values_.size());
    if (added) values_.emplace_back(value);
    entry.value = known->second;
  }
  const auto [at, added] = entries_.try_emplace(std::string(name), entry);
  if (!added && at->second.value != entry.value)
    throw Error(kFunction, where + ": '" + printable(name) +
                               "' has another value on an earlier line; give each sequence one value");
}

void GroupTable::find_numbers() {
  std::vector<double> numbers;
  bool whole = true;
  for (const std::string& value : values_) {
    double number = 0;
    const auto [end, problem] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (problem != std::errc() || end != value.data() + value.size() || !std::isfinite(number)) return;
    whole = whole && number == std::floor(number);
    numbers.push_back(number);
  }
  if (!(whole && numbers.size() <= kFewWholeNumbers)) numbers_ = std::move(numbers);
}

std::optional<size_t> GroupTable::find(std::string_view name) {
  const auto at = entries_.find(name);
  if (at == entries_.end()) return std::nullopt;
  found_ += at->second.found ? 0 : 1;
  at->second.found = true;
  if (at->second.value == kNoValue) return std::nullopt;
  return at->second.value;
}

}  // namespace carbon
