// A row of the list of models: what a model is, or why something is not one.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "src/base/log.hpp"
#include "src/model/model_summary.hpp"
#include "src/model/registry.hpp"

namespace carbon {

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
