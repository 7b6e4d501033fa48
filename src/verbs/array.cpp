#include "src/verbs/array.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "src/base/numbers.hpp"

namespace carbon {
namespace {

using nlohmann::json;

// Appends values[begin..] as lists of the dimensions from `at` on; returns where the next value stands.
template <class T>
size_t append_values(const std::vector<T>& values, size_t begin, const std::vector<int64_t>& shape, size_t at,
                     std::string& text) {
  if (at == shape.size()) {
    append_json(static_cast<double>(values[begin]), text);
    return begin + 1;
  }
  const auto length = static_cast<size_t>(shape[at]);
  const auto first = values.begin() + static_cast<ptrdiff_t>(begin);
  const bool is_row = at > 0 && at + 1 == shape.size();
  if (is_row && std::all_of(first, first + shape[at], [](T value) { return std::isnan(value); })) {
    text += "null";
    return begin + length;
  }
  text += '[';
  for (size_t i = 0; i < length; ++i) {
    if (i > 0) text += ',';
    begin = append_values(values, begin, shape, at + 1, text);
  }
  text += ']';
  return begin;
}

}  // namespace

void append_json(double number, std::string& text) {
  if (std::isfinite(number))
    append_shortest(number, text);
  else
    text += "null";
}

void append_json(const Array& array, std::string& text) {
  if (const auto* const letters = std::get_if<std::string>(&array.data())) {
    text += json(*letters).dump();
  } else if (const auto* const wholes = std::get_if<std::vector<int64_t>>(&array.data())) {
    append_integer(wholes->front(), text);
  } else if (const auto* const floats = std::get_if<std::vector<float>>(&array.data())) {
    append_values(*floats, 0, array.shape(), 0, text);
  } else {
    append_values(std::get<std::vector<double>>(array.data()), 0, array.shape(), 0, text);
  }
}

}  // namespace carbon
