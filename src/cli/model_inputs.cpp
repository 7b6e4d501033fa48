#include "src/cli/model_inputs.hpp"

#include "src/base/error.hpp"
#include "src/base/files.hpp"
#include "src/files/run_files.hpp"
#include "src/model/model_files.hpp"
#include "src/model/registry.hpp"

namespace carbon {
namespace {

std::string place_of(const std::string& model) {
  if (path_exists(model)) return model;
  try {
    return model.empty() ? default_model() : resolve_model(model);
  } catch (const Error&) {
    return "";
  }
}

}  // namespace

void declare_model(const std::string& model, const std::string& function) {
  for (const std::string& file : files_of_model(place_of(model)))
    declare_input(file, InputUse::once, function);
}

}  // namespace carbon
