#include "src/base/run_identity.hpp"

#include <nlohmann/json.hpp>
#include <set>

#include "src/base/json.hpp"

namespace carbon {

std::string identity_json(const RunIdentity& run) {
  return nlohmann::json(run).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string identity_differences(std::string_view earlier, const RunIdentity& run, const std::string& path) {
  const nlohmann::json theirs = parse_json(earlier, path);
  const nlohmann::json ours = nlohmann::json::parse(identity_json(run));
  if (theirs == ours) return "";
  const auto value = [](const nlohmann::json& object, const std::string& name) {
    const auto found = object.is_object() ? object.find(name) : object.end();
    return found == object.end() || !found->is_string() ? "none" : printable(found->get<std::string>());
  };
  std::set<std::string> names;
  for (const auto& [name, ignored] : run) names.insert(name);
  if (theirs.is_object())
    for (const auto& [name, ignored] : theirs.items()) names.insert(name);
  std::string differences;
  for (const std::string& name : names) {
    const std::string was = value(theirs, name), is = value(ours, name);
    if (was != is)
      differences += (differences.empty() ? "" : "; ") + printable(name) + " " + was + ", now " + is;
  }
  return differences.empty() ? "unknown ones" : differences;
}

}  // namespace carbon
