// A safetensors file: its header, and the bytes that the header gives to each tensor.
#include "src/model/safetensors.hpp"

#include "test/fuzz/harness.hpp"

namespace carbon::fuzz {

void run(std::string_view input, const Folder& folder) {
  const SafetensorsFile file(folder.put("model.safetensors", input));
  for (const auto& [name, tensor] : file.tensors())
    require(tensor.begin <= tensor.end && tensor.end <= file.size(), "a tensor outside of its file");
  require(!overlapping(file.tensors()), "two tensors that share bytes");
}

}  // namespace carbon::fuzz
