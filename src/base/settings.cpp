#include "src/base/settings.hpp"

#include <algorithm>
#include <sstream>

#include "src/base/letters.hpp"
#include "src/base/lists.hpp"

namespace carbon {
namespace {

// PadTail for pad-tail.
std::string field_name(const std::string& name) {
  std::string out;
  bool begins = true;
  for (const char c : name) {
    if (c != '-') out += begins ? capital_letter(c) : c;
    begins = c == '-';
  }
  return out;
}

}  // namespace

std::string header_text(const Settings& settings) {
  std::string text;
  for (const auto& [name, value] : settings) {
    const bool plain = !value.empty() && value.find_first_of(" ,\"<>=%\\") == std::string::npos &&
                       std::none_of(value.begin(), value.end(), is_control);
    text += (text.empty() ? "" : ",") + field_name(name) + "=" + (plain ? value : quoted_field(value));
  }
  return text;
}

std::string quoted_field(std::string_view text) {
  constexpr char digits[] = "0123456789ABCDEF";
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') out += '\\';
    if (c == '%' || is_control(c))
      out += {'%', digits[byte >> 4], digits[byte & 15]};
    else
      out += c;
  }
  return out + '"';
}

void read_settings(const std::string& text, const std::vector<SettingReader>& readers) {
  std::istringstream in(text);
  for (std::string word; in >> word;) {
    const size_t equals = std::min(word.find('='), word.size());
    const std::string name = word.substr(0, equals);
    const auto reader = std::find_if(readers.begin(), readers.end(),
                                     [&](const SettingReader& candidate) { return candidate.name == name; });
    if (reader == readers.end()) {
      std::vector<std::string> known;
      for (const SettingReader& candidate : readers) known.push_back(candidate.name);
      throw SettingError("settings", name, "'" + name + "' is no setting here; expected " + or_list(known));
    }
    reader->take(name, equals < word.size() ? word.substr(equals + 1) : "");
  }
}

}  // namespace carbon
