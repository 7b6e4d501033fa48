#include "src/engine/model_line.hpp"

namespace carbon {

std::string model_line(const std::string& name, const std::string& id, const LoadedModel& model,
                       const std::string& settings) {
  std::string line = "##carbon_" + name + "Model=<ID=" + id + ",Model=\"" + model.checkpoint().id() +
                     "\",SHA256=" + model.model_sha256() + ",Dtype=" + model.dtype() + ",Device=\"" +
                     model.device_kind() + "\"," + settings;
  if (const std::string& scaling = model.checkpoint().rope_override(); !scaling.empty())
    line += ",RopeScaling=" + scaling;
  if (const std::string& text = model.checkpoint().metadata(); !text.empty())
    line += ",Metadata=\"" + text + "\"";
  return line + ">";
}

}  // namespace carbon
