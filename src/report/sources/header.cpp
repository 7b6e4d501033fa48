#include "src/report/sources/header.hpp"

#include <algorithm>
#include <string_view>

#include "src/base/error.hpp"
#include "src/base/json.hpp"
#include "src/report/sources/input.hpp"

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

bool all_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// The part before _LLR, _NT, _ALLR or _ALLR_96; the whole name of another tag.
std::string prefix_of(const std::string& tag) {
  for (const std::string_view end : {"_LLR", "_NT", "_ALLR"})
    if (tag.ends_with(end)) return tag.substr(0, tag.size() - end.size());
  const size_t horizon = tag.rfind("_ALLR_");
  return horizon != std::string::npos && all_digits(std::string_view(tag).substr(horizon + 6))
             ? tag.substr(0, horizon)
             : tag;
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// A header may have lost its model lines; then names and descriptions tell.
bool is_of_carbon(const KnownTag& tag, const CarbonModels& models) {
  if (contains(models.tags, tag.name)) return true;
  const std::string prefix = prefix_of(tag.name);
  if (prefix != tag.name && contains(models.prefixes, prefix)) return true;
  return tag.number == "A" && (tag.name.starts_with("CARBON_") || tag.description.starts_with("Carbon "));
}

bool is_log_ratio(const KnownTag& tag, const CarbonModels& models) {
  if (contains(models.tags, tag.name) || tag.name == "CARBON_SCAN") return true;
  return prefix_of(tag.name) != tag.name && is_of_carbon(tag, models);
}

// For a message: a header may define thousands.
std::string floats_of(const std::vector<KnownTag>& known) {
  constexpr size_t most = 8;
  std::string names;
  size_t count = 0;
  for (const KnownTag& tag : known)
    if (tag.type == "Float" && ++count <= most) names += (names.empty() ? "" : ", ") + printable(tag.name);
  if (count == 0) return "no tag is of Type Float";
  return "the tags of Type Float are " + names +
         (count > most ? " and " + std::to_string(count - most) + " more" : "");
}

const KnownTag& find_wanted(const std::vector<KnownTag>& known, const std::string& name,
                            const std::string& path, bool table) {
  const auto found =
      std::find_if(known.begin(), known.end(), [&](const KnownTag& tag) { return tag.name == name; });
  if (found == known.end())
    throw Error("report", path + (table ? ": the table has no column " : ": the header has no INFO tag ") +
                              printable(name) + "; " +
                              (table ? "give a column after ALT" : floats_of(known)));
  if (found->type != "Float")
    throw Error("report", path + ": " + printable(name) + " is of Type " + printable(found->type) +
                              ", and a report draws numbers of Type Float; " + floats_of(known));
  return *found;
}

constexpr std::string_view kStart = "##carbon_";

bool is_model(std::string_view line) {
  return line.substr(0, line.find('=')).ends_with("Model");
}

// "vep" of ##carbon_vepCommand, with `end` Command.
std::string_view command_of(std::string_view key, std::string_view end) {
  key.remove_prefix(kStart.size());
  key.remove_suffix(end.size());
  return key;
}

std::string words_of(const std::string& field) {
  if (field == "SHA256") return "SHA-256 of the model";
  if (field == "Dtype") return "Data type";
  if (field == "RopeScaling") return "Scaling of positions";
  return field;
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

CarbonModels carbon_models(const std::vector<std::string>& model_lines) {
  CarbonModels models;
  for (const std::string& line : model_lines) {
    const std::string id = header_field(header_fields(line), "ID");
    if (id.empty()) continue;
    (line.starts_with("##carbon_scanModel=") ? models.tags : models.prefixes).push_back(id);
  }
  return models;
}

void choose_tags(const std::vector<KnownTag>& known, const CarbonModels& models,
                 const std::vector<std::string>& wanted, const std::string& path, VariantLayout& layout) {
  std::vector<const KnownTag*> chosen;
  for (const std::string& name : wanted) {
    const KnownTag* tag = &find_wanted(known, name, path, layout.table);
    if (std::find(chosen.begin(), chosen.end(), tag) == chosen.end()) chosen.push_back(tag);
  }
  if (wanted.empty())
    for (const KnownTag& tag : known)
      if (tag.type == "Float" && (layout.table || is_of_carbon(tag, models))) chosen.push_back(&tag);
  if (chosen.empty())
    throw Error(
        "report",
        path + (layout.table ? ": the table has no column of scores after ALT"
                             : ": the header names no scores of carbon (no line ##carbon_...Model and no "
                               "tag CARBON_...), so the tags to draw must be named; " +
                                   floats_of(known)));
  for (const KnownTag* tag : chosen) {
    ScoreTag score{tag->name, layout.table || is_log_ratio(*tag, models) ? "nats" : ""};
    const std::string flag = prefix_of(tag->name) + "_FLAG";
    const bool defined = std::any_of(known.begin(), known.end(), [&](const KnownTag& other) {
      return other.name == flag && other.type == "String";
    });
    if (defined) {
      const auto at = std::find(layout.flag_tags.begin(), layout.flag_tags.end(), flag);
      score.flag_tag = static_cast<size_t>(at - layout.flag_tags.begin());
      if (at == layout.flag_tags.end()) layout.flag_tags.push_back(flag);
    }
    layout.tags.push_back(std::move(score));
  }
}

std::vector<std::pair<std::string, std::string>> variant_provenance(const std::string& path,
                                                                    const std::vector<std::string>& lines) {
  std::vector<std::pair<std::string, std::string>> out = {{"File", file_name(path)}};
  const bool several =
      std::count_if(lines.begin(), lines.end(), [](const auto& l) { return is_model(l); }) > 1;
  for (const std::string& line : lines) {
    const size_t equals = line.find('=');
    if (!line.starts_with(kStart) || equals == std::string::npos) continue;
    const std::string_view key = std::string_view(line).substr(0, equals);
    const std::string value = line.substr(equals + 1);
    if (key.ends_with("Version")) {
      out.emplace_back("Program", "carbon " + std::string(command_of(key, "Version")) + " " + value);
    } else if (key.ends_with("Command")) {
      out.emplace_back("Command", value);
    } else if (is_model(line)) {
      const HeaderFields fields = header_fields(line);
      const std::string id = header_field(fields, "ID");
      if (!several) out.emplace_back("Tags", id);
      for (const auto& [name, text] : fields)
        if (name != "ID" && name != "IDX")
          out.emplace_back((several ? id + ": " : "") + words_of(name), text);
    } else {
      out.emplace_back(std::string(key.substr(2)), value);
    }
  }
  return out;
}

}  // namespace carbon
