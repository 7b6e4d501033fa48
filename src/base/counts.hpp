// Counts as they are written in sentences.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

namespace carbon {

/// The digits of a number with commas between thousands, before a decimal point if it has one.
inline std::string with_commas(std::string digits) {
  const size_t end = std::min(digits.find('.'), digits.size());
  for (size_t at = end; at > 3; at -= 3) digits.insert(at - 3, 1, ',');
  return digits;
}

/// 12,345.
inline std::string count_text(uint64_t count) {
  return with_commas(std::to_string(count));
}

/// A count with what is counted, for people who read a page: 1 row, 12,345 rows.
inline std::string plural(uint64_t count, const std::string& one) {
  return count_text(count) + " " + one + (count == 1 ? "" : "s");
}

/// The same without commas, for messages, which programs read as well: 1 pass, 12345 passes. `ending` is that
/// of the plural.
inline std::string count_of(uint64_t count, const std::string& one, const std::string& ending = "s") {
  return std::to_string(count) + " " + one + (count == 1 ? "" : ending);
}

}  // namespace carbon
