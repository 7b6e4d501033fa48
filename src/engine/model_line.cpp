#include "src/engine/model_line.hpp"

#include "src/base/settings.hpp"

namespace carbon {
namespace {

std::string beginning(const std::string& name, const std::string& id) {
  return "##carbon_" + name + "Model=<ID=" + id + ",Model=\"";
}

std::string weights(const std::string& sha256, const std::string& dtype) {
  return "\",SHA256=" + sha256 + ",Dtype=" + dtype + ",";
}

}  // namespace

std::string model_line(const std::string& name, const std::string& id, const LoadedModel& model,
                       const std::string& settings) {
  std::string line = beginning(name, id) + model.checkpoint().id() +
                     weights(model.model_sha256(), model.dtype()) + "Device=\"" + model.device_kind() +
                     "\"," + settings;
  if (const std::string& scaling = model.checkpoint().rope_override(); !scaling.empty())
    line += ",RopeScaling=" + scaling;
  if (const std::string& text = model.checkpoint().metadata(); !text.empty())
    line += ",Metadata=" + quoted_field(text);
  return line + ">";
}

// The name of a model has no quotes, so the first one ends it.
bool is_model_line(const std::string& line, const std::string& name, const std::string& id,
                   const std::string& sha256, const std::string& dtype) {
  const std::string start = beginning(name, id);
  if (!line.starts_with(start)) return false;
  const size_t end = line.find('"', start.size());
  return end != std::string::npos && line.substr(end).starts_with(weights(sha256, dtype));
}

}  // namespace carbon
