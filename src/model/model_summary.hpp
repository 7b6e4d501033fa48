// What can be said of a model without reading its weights: its shape, its types, its size, its licence; and
// the rows of the list of models.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "src/base/log.hpp"
#include "src/model/config.hpp"
#include "src/model/registry.hpp"

namespace carbon {

/// What the values of a head of labels are called: those of a classifier, or the classes of an annotator;
/// none for other models.
std::vector<std::string> labels_of(const ModelConfig& config);

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

/// A row of the list of models: what a model is, or why something is not one.
struct ModelRow {
  ListedModel model;
  std::optional<ModelSummary> summary = {};  // none: it is not a model, and model.why says why
  std::string sha256 = {};                   // empty if nobody asked for it
  Advice advice = {};                        // where it is not a model
};

/// Reads no weights.
ModelRow look_at_model(const ListedModel& model);
/// An object of the list that `carbon models --json` prints. Texts may hold bytes that are not UTF-8.
nlohmann::ordered_json to_json(const ModelRow& row);

}  // namespace carbon
