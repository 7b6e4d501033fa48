#include "src/report/sources/variant_provenance.hpp"

#include <algorithm>
#include <string_view>

#include "src/report/sources/header_fields.hpp"
#include "src/report/sources/input.hpp"

namespace carbon {
namespace {

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
