#include "kernels/cuda/switches.hpp"

#include <cstdlib>

#include "src/base/error.hpp"

namespace carbon::cuda {
namespace {

constexpr const char* kLibrary = "CARBON_CUDA_LIBRARY";
constexpr struct {
  const char* name;
  bool Switches::*part;
} kVariables[] = {{"CARBON_CUDA_OVERLAP", &Switches::overlap},
                  {"CARBON_CUDA_GRAPHS", &Switches::graphs},
                  {kLibrary, &Switches::library}};

/// "0", "1", or "" if the variable is not set.
std::string value_of(const char* name) {
  const char* const text = std::getenv(name);
  const std::string value = text != nullptr ? text : "";
  if (value != "" && value != "0" && value != "1")
    throw Error("cuda", std::string(name) + " is \"" + value + "\"; it must be 0 (off) or 1 (on)");
  return value;
}

}  // namespace

Switches read_switches() {
  Switches switches;
  for (const auto& [name, part] : kVariables) switches.*part = value_of(name) != "0";
  switches.library_required = value_of(kLibrary) == "1";
  return switches;
}

std::string describe_switches() {
  std::string text;
  for (const auto& [name, part] : kVariables)
    if (const std::string value = value_of(name); !value.empty())
      text += (text.empty() ? "" : ", ") + std::string(name) + "=" + value;
  return text;
}

}  // namespace carbon::cuda
