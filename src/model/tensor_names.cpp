#include "src/model/tensor_names.hpp"

#include <vector>

#include "src/base/lists.hpp"

namespace carbon {

std::string without_wrappers(std::string_view name) {
  std::vector<std::string_view> parts = split(name, '.');
  std::erase_if(parts, [](std::string_view part) { return part == "_orig_mod" || part == "module"; });
  return joined(parts, ".");
}

std::string standard_name(std::string_view name) {
  std::string plain = without_wrappers(name);
  for (const std::string_view part : {"embed_tokens.", "layers.", "norm."})
    if (plain.starts_with(part)) return "model." + plain;
  return plain;
}

}  // namespace carbon
