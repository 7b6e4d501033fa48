#include "src/report/sources/header.hpp"

#include <algorithm>
#include <string_view>

#include "src/base/error.hpp"
#include "src/base/json.hpp"
#include "src/model/model_places.hpp"
#include "src/report/sources/input.hpp"

namespace carbon {
namespace {

// A header may have lost its model lines; then names and descriptions tell.
bool is_of_carbon(const KnownTag& tag, const CarbonModels& models) {
  if (models.name(tag.name)) return true;
  return tag.number == "A" && (tag.name.starts_with("CARBON_") || tag.description.starts_with("Carbon "));
}

bool is_log_ratio(const KnownTag& tag, const CarbonModels& models) {
  if (models.name(tag.name) || tag.name == "CARBON_SCAN") return true;
  return score_prefix(tag.name) != tag.name && is_of_carbon(tag, models);
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
  std::string out;  // "Pad tail" for PadTail
  for (const char c : field) {
    const bool begins = c >= 'A' && c <= 'Z' && !out.empty() && out.back() >= 'a' && out.back() <= 'z';
    out += begins ? std::string{' ', static_cast<char>(c - 'A' + 'a')} : std::string(1, c);
  }
  return out;
}

}  // namespace

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
    score.low = layout.table || models.low_is_damaging(tag->name, tag->description);
    const std::string flag = std::string(score_prefix(tag->name)) + "_FLAG";
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

std::string model_sentence(const HeaderFields& fields) {
  const std::string model = header_field(fields, "Model"), recipe = header_field(fields, "Recipe"),
                    type = header_field(fields, "Dtype"), device = header_field(fields, "Device");
  if (model.empty()) return "";
  std::string out = "Model " + model;
  if (!recipe.empty()) out += ", recipe " + recipe;
  if (!type.empty()) out += ", data type " + type;
  // The kind of device stands before what tells one of its kind from another.
  if (!device.empty()) out += ", device " + device.substr(0, device.find_first_of(": "));
  out += ".";
  if (file_name(model) == kBundledModel)
    out += " This is a demonstration model: not meaningful for variants.";
  return out;
}

std::vector<std::string> model_sentences(const std::vector<std::string>& lines) {
  std::vector<std::string> out;
  for (const std::string& line : lines) {
    const HeaderFields fields = header_fields(line);
    const std::string sentence = is_model(line) ? model_sentence(fields) : "";
    if (!sentence.empty()) out.push_back(header_field(fields, "ID") + ": " + sentence);
  }
  return out;
}

}  // namespace carbon
