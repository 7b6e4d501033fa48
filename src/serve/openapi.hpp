// GET /openapi.json: what /v1/dna/*, /health and /version take and answer, as OpenAPI 3.1. The fields of
// verbs come from their declarations (src/base/settings.hpp). OpenAI's endpoints are left out: they read
// their own fields, which their makers describe.
#pragma once

#include <nlohmann/json.hpp>

namespace carbon {

class Checkpoint;

/// Of the verbs that this model can be used for.
nlohmann::ordered_json openapi_document(const Checkpoint& checkpoint);

}  // namespace carbon
