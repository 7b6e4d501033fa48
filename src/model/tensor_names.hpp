// The names of tensors in files, which differ by how a model was saved.
#pragma once

#include <string>
#include <string_view>

namespace carbon {

/// The name of a tensor without the parts that wrappers of a model put into it while it is trained:
/// `_orig_mod.` of torch.compile, `module.` of data-parallel training.
std::string without_wrappers(std::string_view name);
/// The name by which architecture() (llama_tensors.hpp) knows a tensor of a file: without such parts, and
/// with the `model.` that a model saved by AutoModel lacks.
std::string standard_name(std::string_view name);

}  // namespace carbon
