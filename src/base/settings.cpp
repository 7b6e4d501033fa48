#include "src/base/settings.hpp"

#include <algorithm>

#include "src/base/letters.hpp"
#include "src/base/numbers.hpp"

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

const std::string* Setting::missing_at(Door door) const {
  for (const auto& [where, reason] : missing)
    if (where == door) return &reason;
  return nullptr;
}

namespace {

template <class... Each>
struct Overloaded : Each... {
  using Each::operator()...;
};
template <class... Each>
Overloaded(Each...) -> Overloaded<Each...>;

}  // namespace

std::string Setting::text() const {
  return std::visit(
      Overloaded{[](const bool* flag) { return std::string(*flag ? "yes" : "no"); },
                 [](const double* number) { return shortest_text(*number); },
                 [](const std::string* value) { return *value; },
                 [](const std::optional<int64_t>* number) {
                   return *number ? std::to_string(**number) : std::string();
                 },
                 [](const Choice& choice) { return choice.get(); }, [](const List&) { return std::string(); },
                 [](const Object&) { return std::string(); },
                 [](const auto* number) { return std::to_string(*number); }},
      target);
}

namespace {

std::string expected_number(const Setting& setting) {
  const std::string number = std::string(setting.shown) == "BP" ? "a number of bases" : "a number";
  if (!setting.bounds) return number;
  return number + " from " + std::to_string(setting.bounds->first) + " to " +
         std::to_string(setting.bounds->second);
}

[[noreturn]] void refuse(const Setting& setting, const std::string& value, const std::string& expected) {
  throw SettingError("settings", setting.name, setting.name + " '" + value + "': expected " + expected);
}

// Sets the variable of a setting from a word of text.
class TextReader {
 public:
  TextReader(const Setting& setting, const std::string& value) : setting_(setting), value_(value) {}

  void operator()(bool* flag) const {
    if (!value_.empty()) throw SettingError("settings", setting_.name, setting_.name + " takes no value");
    *flag = true;
  }
  void operator()(double* number) const {
    *number = number_setting<double>(setting_.name, value_, expected_number(setting_));
  }
  void operator()(std::string* text) const { *text = value_; }
  void operator()(std::optional<int64_t>* number) const { read_whole(number->emplace()); }
  void operator()(const Setting::Choice& choice) const {
    check_word(choice.words, value_);
    choice.set(value_);
  }
  void operator()(const Setting::List& list) const { set_list(setting_, list, value_); }
  void operator()(const Setting::Object&) const { refuse(setting_, value_, "an object, which no text is"); }
  template <class Whole>
  void operator()(Whole* number) const {
    read_whole(*number);
  }

 private:
  template <class Whole>
  void read_whole(Whole& number) const {
    number = number_setting<Whole>(setting_.name, value_, expected_number(setting_));
    if (!setting_.bounds) return;
    const auto& [least, most] = *setting_.bounds;
    if (std::cmp_less(number, least) || std::cmp_greater(number, most))
      refuse(setting_, value_, expected_number(setting_));
  }
  void check_word(const Setting::Parts& words, const std::string& word) const {
    if (std::find(words.begin(), words.end(), word) == words.end()) refuse(setting_, value_, or_list(words));
  }

  const Setting& setting_;
  const std::string& value_;
};

Setting::Parts parts_of_text(const Setting& setting, const Setting::List& list, const std::string& text) {
  Setting::Parts parts;
  for (const std::string_view part : split(text, list.separator)) {
    parts.emplace_back(part);
    if (list.words.empty()) continue;
    if (std::find(list.words.begin(), list.words.end(), part) == list.words.end())
      throw SettingError(
          "settings", setting.name,
          setting.name + " " + text + ": expected " + or_list(list.words) + ", or several joined by commas");
    if (std::count(parts.begin(), parts.end(), part) > 1)
      throw SettingError("settings", setting.name,
                         setting.name + " " + text + " names a " + setting.name + " twice");
  }
  return parts;
}

void set_or_show(const Setting& setting, const Setting::List& list, const Setting::Parts& parts,
                 const std::string& example) {
  try {
    list.set(parts);
  } catch (const SettingError& error) {
    const std::string message = error.what() + (example.empty() ? "" : ", such as " + example);
    throw SettingError(error.function(), setting.name, message, error.advice());
  }
}

}  // namespace

void set_list(const Setting& setting, const Setting::List& list, const std::string& text) {
  set_or_show(setting, list, parts_of_text(setting, list, text), setting.example);
}

void set_list(const Setting& setting, const Setting::List& list, const Setting::Parts& parts) {
  set_or_show(setting, list, parts, json_example(setting, list));
}

std::string json_example(const Setting& setting, const Setting::List& list) {
  if (setting.example.empty()) return "";
  std::vector<std::string> parts;
  for (const std::string_view part : split(setting.example, list.separator))
    parts.push_back(list.of_numbers ? std::string(part) : "\"" + std::string(part) + "\"");
  return list.one_part ? parts.front() : "[" + joined(parts, ", ") + "]";
}

std::vector<std::string> read_settings(const std::string& text, const SettingList& settings) {
  std::vector<std::string> given;
  for (const std::string_view word : words_of(text)) {
    const size_t equals = std::min(word.find('='), word.size());
    const std::string name(word.substr(0, equals));
    const auto setting = std::find_if(settings.begin(), settings.end(), [&](const Setting& candidate) {
      return candidate.name == name && !candidate.missing_at(Door::plugin);
    });
    if (setting == settings.end()) {
      std::vector<std::string> known;
      for (const Setting& candidate : settings)
        if (!candidate.missing_at(Door::plugin)) known.push_back(candidate.name);
      throw SettingError("settings", name, "'" + name + "' is no setting here; expected " + or_list(known));
    }
    const std::string value(equals < word.size() ? word.substr(equals + 1) : "");
    std::visit(TextReader(*setting, value), setting->target);
    given.push_back(name);
  }
  check_together(settings, given);
  return given;
}

Settings setting_values(const SettingList& settings) {
  Settings values;
  for (const Setting& setting : settings) values.emplace_back(setting.name, setting.text());
  return values;
}

void check_together(const SettingList& settings, const std::vector<std::string>& given) {
  const auto is_given = [&](const std::string& name) {
    return std::find(given.begin(), given.end(), name) != given.end();
  };
  for (const Setting& setting : settings) {
    if (!is_given(setting.name)) continue;
    for (const std::string& other : setting.excluded)
      if (is_given(other))
        throw SettingError("settings", setting.name, setting.name + " cannot be used with " + other);
    for (const std::string& other : setting.needed)
      if (!is_given(other)) throw SettingError("settings", setting.name, setting.name + " needs " + other);
  }
}

}  // namespace carbon
