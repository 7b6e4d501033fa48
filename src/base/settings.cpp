#include "src/base/settings.hpp"

#include <algorithm>
#include <cctype>
#include <sstream>

namespace carbon {

std::string header_text(const Settings& settings) {
  std::string text;
  for (auto [name, value] : settings) {
    name[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(name[0])));
    text += (text.empty() ? "" : ",") + name + "=" + value;
  }
  return text;
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
