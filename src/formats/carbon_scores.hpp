// What header lines of a VCF say of the scores of carbon, for everybody who reads them: plugins as well, so
// that it stands alone.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace carbon {

/// Of a line such as ##INFO=<ID=AF,Number=A,...>: names and values.
using HeaderFields = std::vector<std::pair<std::string, std::string>>;

/// Takes the value at the beginning of `text`, which ends before a comma or >, or is in quotation marks, in
/// which a backslash makes the next letter one of the value.
inline std::string take_header_value(std::string_view& text) {
  std::string value;
  if (!text.starts_with('"')) {
    value = text.substr(0, text.find_first_of(",>"));
    text.remove_prefix(value.size());
    return value;
  }
  text.remove_prefix(1);
  while (!text.empty() && text[0] != '"') {
    if (text[0] == '\\' && text.size() > 1) text.remove_prefix(1);
    value += text[0];
    text.remove_prefix(1);
  }
  if (!text.empty()) text.remove_prefix(1);
  return value;
}

/// A value in quotation marks, as take_header_value() reads it.
inline std::string quoted_value(std::string_view value) {
  std::string quoted = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

/// The fields in order, without quotation marks around values; none for a line of another form. A line that
/// breaks off keeps the fields before that.
inline HeaderFields header_fields(std::string_view line) {
  HeaderFields fields;
  const size_t begin = line.find("=<");
  if (!line.starts_with("##") || begin == std::string_view::npos) return fields;
  for (std::string_view rest = line.substr(begin + 2); !rest.empty() && rest[0] != '>';) {
    const size_t equals = rest.find('=');
    if (equals == std::string_view::npos) break;
    std::string key(rest.substr(0, equals));
    rest.remove_prefix(equals + 1);
    fields.emplace_back(std::move(key), take_header_value(rest));
    if (!rest.starts_with(',')) break;
    rest.remove_prefix(1);
  }
  return fields;
}

/// The value of a field, or "".
inline std::string header_field(const HeaderFields& fields, std::string_view key) {
  for (const auto& [name, value] : fields)
    if (name == key) return value;
  return "";
}

/// Whether a header line is ##KEY=...
inline bool has_key(std::string_view line, std::string_view key) {
  return line.starts_with("##") && line.substr(2).starts_with(key) &&
         line.substr(2 + key.size()).starts_with('=');
}

/// The keys of the lines that say with which model a file was scored.
inline constexpr const char* kModelKeys[] = {"carbon_vepModel", "carbon_scanModel", "carbon_mutagenesisModel",
                                             "carbon_pluginModel"};

/// That of the lines by which +combine says what a tag of its own was made of.
inline constexpr const char* kCombineKey = "carbon_combine";

/// A difference of the values of a label, as a fine-tuned head gives them. What its sign means is known to
/// whoever trained it.
inline bool is_label_tag(std::string_view tag) {
  const size_t head = tag.find("_HEAD_");
  return head != std::string_view::npos && head > 0;
}

/// A distance, of which carbon writes none below 0.
inline bool is_measure_tag(std::string_view tag) {
  return !is_label_tag(tag) && (tag.ends_with("_L2") || tag.ends_with("_JSD"));
}

/// The part before _LLR, _LLR_TOKEN, _L2, _JSD, _NT, _ALLR, _ALLR_96 or _SCAN; the whole name of another tag.
inline std::string_view score_prefix(std::string_view tag) {
  if (is_label_tag(tag)) return tag;
  for (const std::string_view end : {"_LLR", "_LLR_TOKEN", "_L2", "_JSD", "_NT", "_ALLR", "_SCAN"})
    if (tag.ends_with(end)) return tag.substr(0, tag.size() - end.size());
  const size_t horizon = tag.rfind("_ALLR_");
  const bool number = horizon != std::string_view::npos && horizon + 6 < tag.size() &&
                      tag.find_first_not_of("0123456789", horizon + 6) == std::string_view::npos;
  return number ? tag.substr(0, horizon) : tag;
}

/// Which values of a tag are those of damaging alleles.
enum class ScoreDirection { unknown, low, high };

/// The tags that the lines of models name.
class CarbonModels {
 public:
  /// A line ##carbon_...Model=<ID=...,...> or ##carbon_combine=<ID=...,...>.
  void add(std::string_view line) {
    const HeaderFields fields = header_fields(line);
    std::string id = header_field(fields, "ID");
    if (id.empty() || is_label_tag(id)) return;
    if (has_key(line, kCombineKey) || !header_field(fields, "Measure").empty())
      return high_.push_back(std::move(id));
    // Programs before 0.3 named the prefix of vep's tags instead of each tag.
    const bool is_tag = score_prefix(id) != id || line.starts_with("##carbon_scanModel=");
    (is_tag ? tags_ : prefixes_).push_back(std::move(id));
  }
  /// Whether a tag has log ratios by these lines.
  bool name(std::string_view tag) const {
    const std::string_view prefix = score_prefix(tag);
    return contains(tags_, tag) || (prefix != tag && !is_measure_tag(tag) && contains(prefixes_, prefix));
  }
  /// Whether low values of a tag are those of damaging alleles: it has log ratios by these lines or, where a
  /// header has lost them, by the description of its line ##INFO.
  bool low_is_damaging(std::string_view tag, std::string_view description) const {
    return name(tag) ||
           (score_prefix(tag) != tag && !is_measure_tag(tag) && description.starts_with("Carbon "));
  }
  /// The same for high values: distances of vep, and tags of +combine.
  bool high_is_damaging(std::string_view tag, std::string_view description) const {
    return contains(high_, tag) || (is_measure_tag(tag) && description.starts_with("Carbon "));
  }
  ScoreDirection direction(std::string_view tag, std::string_view description) const {
    if (high_is_damaging(tag, description)) return ScoreDirection::high;
    return low_is_damaging(tag, description) ? ScoreDirection::low : ScoreDirection::unknown;
  }

 private:
  static bool contains(const std::vector<std::string>& names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  }

  std::vector<std::string> prefixes_, tags_, high_;
};

}  // namespace carbon
