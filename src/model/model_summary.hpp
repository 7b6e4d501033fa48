// What can be said of a model without reading its weights: its shape, its types, its size, its licence.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/model/config.hpp"

namespace carbon {

struct ModelSummary {
  std::string family;  // "Carbon" or "GENERator"
  ModelConfig config;
  uint64_t parameters = 0;          // numbers in all tensors that are read; a tied head counts once
  std::vector<std::string> dtypes;  // of the matrices, that with the most numbers first
  uint64_t bytes = 0;               // of the files with weights
  std::string licence;              // as README.md, the metadata or LICENSE names it; empty if they do not
};

/// `path` is what resolve_model() returns. All checks of a model are made, but for those of the weights'
/// values. Throws Error, which says why it is not a model that the program can run.
ModelSummary summarise_model(const std::string& path);

}  // namespace carbon
