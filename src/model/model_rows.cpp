#include "src/model/model_rows.hpp"

#include <nlohmann/json.hpp>

#include "src/base/error.hpp"

namespace carbon {

// Insertion order, so that JSON reads like the table.
using json = nlohmann::ordered_json;

ModelRow look_at_model(const ListedModel& model) {
  ModelRow row{.model = model};
  if (!model.why.empty()) return row;
  try {
    row.summary = summarise_model(model.path);
  } catch (const Error& e) {
    row.model.why = e.what();
    row.advice = e.advice();
  }
  return row;
}

json to_json(const ModelRow& row) {
  json object = {{"name", row.model.name}, {"path", row.model.path}, {"place", row.model.place}};
  if (!row.summary) {
    object["error"] = row.model.why;
    return object;
  }
  const ModelSummary& s = *row.summary;
  const ModelConfig& c = s.config;
  object.update({{"family", s.family},
                 {"layers", c.layers},
                 {"hidden", c.hidden},
                 {"heads", c.heads},
                 {"kv_heads", c.kv_heads},
                 {"head_dim", c.head_dim},
                 {"intermediate", c.intermediate},
                 {"vocabulary", c.vocab},
                 {"max_positions", c.max_positions},
                 {"parameters", s.parameters},
                 {"weights", s.dtypes},
                 {"bytes", s.bytes},
                 {"licence", s.licence.empty() ? json(nullptr) : json(s.licence)},
                 {"labels", c.classifier ? json(c.classifier->labels) : json(nullptr)}});
  if (!row.sha256.empty()) object["sha256"] = row.sha256;
  return object;
}

}  // namespace carbon
