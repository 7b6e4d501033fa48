#include "src/formats/provenance.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <ctime>
#include <nlohmann/json.hpp>

#include "src/base/error.hpp"
#include "src/base/json.hpp"
#include "src/base/words.hpp"
#include "src/files/htslib_messages.hpp"
#include "src/formats/carbon_scores.hpp"
#include "version.h"

namespace carbon {
namespace {

using nlohmann::ordered_json;

constexpr std::string_view kStart = "##carbon_";
constexpr size_t kLargestFile = size_t{1} << 26;  // a command line has 2 MiB at most

// With `fields`, the value of a model is an object.
ordered_json json_of(const std::vector<std::string>& lines, bool fields) {
  ordered_json out = ordered_json::object();
  for (const std::string& line : lines) {
    const size_t equals = line.find('=');
    ordered_json& value = out[line.substr(2, equals - 2)];
    value = line.substr(equals + 1);
    if (!fields || !line.substr(0, equals).ends_with("Model")) continue;
    value = ordered_json::object();
    for (const auto& [name, text] : header_fields(line)) value[name] = text;
  }
  return out;
}

std::string dump(const ordered_json& json, int indent) {
  return json.dump(indent, ' ', false, ordered_json::error_handler_t::replace);
}

// The fields of a model as they stand in a header line.
std::string fields_text(const nlohmann::json& fields) {
  std::string out;
  for (const auto& [name, value] : fields.items()) {
    if (!value.is_string()) continue;
    out += (out.empty() ? "<" : ",") + name + "=" + quoted_value(value.get_ref<const std::string&>());
  }
  return out + ">";
}

std::vector<std::string> lines_of(const nlohmann::json& json) {
  std::vector<std::string> lines;
  if (!json.is_object()) return lines;
  for (const char* end : {"Version", "Command", "Model"})
    for (const auto& [name, value] : json.items()) {
      const std::string line = "##" + name + "=";
      if (!line.starts_with(kStart) || !name.ends_with(end)) continue;
      if (value.is_string()) lines.push_back(line + value.get<std::string>());
      if (value.is_object()) lines.push_back(line + fields_text(value));
    }
  return lines;
}

/// "Sat Nov  7 09:05:00 2026", as date and bcftools write it in English.
std::string date_text(const std::tm& time) {
  constexpr const char* kDays[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  constexpr const char* kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const auto two = [](int number, char fill) {
    return (number < 10 ? std::string(1, fill) : "") + std::to_string(number);
  };
  return std::string(kDays[time.tm_wday]) + " " + kMonths[time.tm_mon] + " " + two(time.tm_mday, ' ') + " " +
         two(time.tm_hour, '0') + ":" + two(time.tm_min, '0') + ":" + two(time.tm_sec, '0') + " " +
         std::to_string(1900 + time.tm_year);
}

}  // namespace

std::vector<std::string> version_lines(const std::string& command, const std::string& command_line) {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  return {"##carbon_" + command + "Version=" CARBON_VERSION "+htslib-" + htslib_version(),
          "##carbon_" + command + "Command=" + command_line + "; Date=" + date_text(local)};
}

std::vector<std::string> provenance_lines(const std::string& command, const CommandRecord& record,
                                          const std::vector<std::string>& models) {
  std::vector<std::string> lines;
  if (!record.no_version) lines = version_lines(command, record.text);
  lines.insert(lines.end(), models.begin(), models.end());
  return lines;
}

void check_row_name(std::string_view function, std::string_view name, std::string_view advice,
                    std::string_view value) {
  if (name.starts_with('#'))
    throw Error(std::string(function),
                "the name " + printable(std::string(name)) +
                    " begins with #, so its lines in a table would be comments",
                {std::string(advice), {std::string(value)}});
}

std::string provenance_json(const std::vector<std::string>& lines) {
  return dump(json_of(lines, true), 2) + "\n";
}

std::string provenance_strings(const std::vector<std::string>& lines) {
  return dump(json_of(lines, false), -1);
}

std::vector<std::string> provenance_of_json(std::string_view text, const std::string& path) {
  return lines_of(parse_json(text, path));
}

std::vector<std::string> provenance_of_file(const std::string& path) {
  try {
    return lines_of(read_json_file(path, kLargestFile));
  } catch (const Error&) {
    return {};  // not there, or something else
  }
}

void check_provenance_file(const std::string& command, const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return;
  const std::vector<std::string> lines = provenance_of_file(path);
  const auto is_own = [&](const std::string& line) { return line.starts_with("##carbon_" + command); };
  if (std::any_of(lines.begin(), lines.end(), is_own)) return;
  throw Error(command,
              path + " exists, and carbon " + command +
                  " has not written it; the run would replace it by a record of the model and the command "
                  "line",
              {"or name another output with {-o}"});
}

}  // namespace carbon
