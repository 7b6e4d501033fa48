#include "src/report/sources/header_fields.hpp"

#include <algorithm>

namespace carbon {
namespace {

// Takes a value in quotation marks, in which a backslash makes the next letter one of the value.
std::string take_quoted(std::string_view& text) {
  std::string value;
  text.remove_prefix(1);
  while (!text.empty() && text[0] != '"') {
    if (text[0] == '\\' && text.size() > 1) text.remove_prefix(1);
    value += text[0];
    text.remove_prefix(1);
  }
  if (!text.empty()) text.remove_prefix(1);
  return value;
}

std::string take_plain(std::string_view& text) {
  const size_t end = std::min(text.find_first_of(",>"), text.size());
  std::string value(text.substr(0, end));
  text.remove_prefix(end);
  return value;
}

}  // namespace

HeaderFields header_fields(std::string_view line) {
  HeaderFields fields;
  const size_t begin = line.find("=<");
  if (!line.starts_with("##") || begin == std::string_view::npos) return fields;
  for (std::string_view rest = line.substr(begin + 2); !rest.empty() && rest[0] != '>';) {
    const size_t equals = rest.find('=');
    if (equals == std::string_view::npos) break;
    std::string key(rest.substr(0, equals));
    rest.remove_prefix(equals + 1);
    std::string value = rest.starts_with('"') ? take_quoted(rest) : take_plain(rest);
    fields.emplace_back(std::move(key), std::move(value));
    if (!rest.starts_with(',')) break;
    rest.remove_prefix(1);
  }
  return fields;
}

std::string header_field(const HeaderFields& fields, std::string_view key) {
  for (const auto& [name, value] : fields)
    if (name == key) return value;
  return "";
}

}  // namespace carbon
