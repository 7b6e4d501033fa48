// The description of the endpoints in bases, as OpenAPI.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "src/serve/endpoints.hpp"
#include "src/verbs/fields.hpp"
#include "src/verbs/verb.hpp"
#include "version.h"

namespace carbon {
namespace {

using nlohmann::ordered_json;

ordered_json number() {
  return {{"type", {"number", "null"}}};
}
ordered_json numbers() {
  return {{"type", "array"}, {"items", number()}};
}
// A row may be missing as a whole.
ordered_json rows() {
  return {{"type", "array"}, {"items", {{"type", {"array", "null"}}, {"items", number()}}}};
}

// All members of an answer are there, but for some.
ordered_json answer_schema(ordered_json properties, const std::set<std::string>& optional = {}) {
  ordered_json required = ordered_json::array();
  for (const auto& property : properties.items())
    if (!optional.contains(property.key())) required.push_back(property.key());
  return object_schema(std::move(properties), required);
}
ordered_json results_schema(ordered_json one, const std::set<std::string>& optional = {}) {
  return answer_schema({{"labels", list_schema(text_schema(""), "of the values, if they have labels")},
                        {"results", list_schema(answer_schema(std::move(one), optional), "")}},
                       {"labels"});
}

// A verb over HTTP: the fields that its inputs are, those of them that must be there, and its answer.
struct Endpoint {
  const char* verb;
  ordered_json inputs, required, answer;
};

std::vector<Endpoint> endpoints() {
  const ordered_json sequences = {{"sequences", list_schema({{"type", "string"}}, "bases")}};
  const ordered_json whole = {{"type", "integer"}};
  return {{"score",
           sequences,
           {"sequences"},
           results_schema({{"n_scored", whole},
                           {"sum_logp", number()},
                           {"mean_logp", number()},
                           {"logp", numbers()},
                           {"probabilities", rows()},
                           {"entropy", numbers()}},
                          {"probabilities", "entropy"})},
          {"embed", sequences, {"sequences"}, results_schema({{"embedding", rows()}})},
          {"predict", sequences, {"sequences"}, results_schema({{"values", numbers()}})},
          {"annotate",
           sequences,
           {"sequences"},
           results_schema({{"plus", numbers()},
                           {"minus", numbers()},
                           {"gff3", text_schema("lines of GFF3, without those that begin a file")}},
                          {"gff3"})},
          {"generate",
           {{"prompt", text_schema("bases; none: from the beginning of a sequence")},
            {"n", {{"type", "integer"}, {"minimum", 1}, {"description", "an older name of num"}}},
            {"stream", {{"type", "boolean"}, {"description", "send events instead of one answer"}}}},
           ordered_json::array(),
           answer_schema({{"samples", list_schema(answer_schema({{"sequence", text_schema("")},
                                                                 {"logp", number()},
                                                                 {"probabilities", rows()}},
                                                                {"probabilities"}),
                                                  "")},
                          {"seed", whole}})},
          {"variants",
           {{"variants", list_schema(variant_schema(), "")}},
           {"variants"},
           results_schema({{"chrom", text_schema("")},
                           {"pos", whole},
                           {"ref", text_schema("")},
                           {"alt", text_schema("")},
                           {"score", number()},
                           {"values", numbers()},
                           {"l2", number()},
                           {"jsd", number()},
                           {"flag", {{"type", {"string", "null"}}}}},
                          {"chrom", "score", "values", "l2", "jsd"})},
          {"scan",
           {{"sequence", text_schema("bases")},
            {"region",
             text_schema("of the server's FASTA, such as chr17:43094600-43094700, in place of sequence")}},
           ordered_json::array(),
           answer_schema({{"chrom", text_schema("")},
                          {"pos", whole},
                          {"sequence", text_schema("the bases of a region")},
                          {"sequence_length", whole},
                          {"letters", text_schema("")},
                          {"logp", rows()}},
                         {"chrom", "pos", "sequence"})}};
}

// A field that is null counts as missing.
void allow_null(ordered_json& schema) {
  const ordered_json required = schema.value("required", ordered_json::array());
  for (auto& [name, property] : schema["properties"].items()) {
    if (std::find(required.begin(), required.end(), name) != required.end()) continue;
    if (property.contains("type")) property["type"] = {property["type"], "null"};
    if (property.contains("enum")) property["enum"].push_back(nullptr);
  }
}

ordered_json json_body(ordered_json schema) {
  return {{"application/json", {{"schema", std::move(schema)}}}};
}

ordered_json answers(ordered_json schema) {
  const ordered_json error = {{"$ref", "#/components/schemas/error"}};
  return {{"200", {{"description", "the answer"}, {"content", json_body(std::move(schema))}}},
          {"default", {{"description", "what is wrong"}, {"content", json_body(error)}}}};
}

ordered_json operation_of(const Endpoint& endpoint) {
  const VerbEntry& verb = *find_verb(endpoint.verb);
  ordered_json inputs = endpoint.inputs;
  inputs["model"] = text_schema("the name of the model that is served");
  ordered_json schema = request_schema(verb, Door::http, std::move(inputs), endpoint.required);
  allow_null(schema);
  if (verb.name == std::string("scan"))
    schema["oneOf"] = {{{"required", {"sequence"}}}, {{"required", {"region"}}}};
  ordered_json responses = answers(endpoint.answer);
  if (schema["properties"].contains("stream"))
    responses["200"]["content"]["text/event-stream"] = {
        {"schema", text_schema("events, as docs/serving.md says")}};
  return {{"operationId", endpoint.verb},
          {"summary", verb.about},
          {"description", std::string("Unit: ") + verb.units + "."},
          {"requestBody", {{"required", true}, {"content", json_body(std::move(schema))}}},
          {"responses", std::move(responses)},
          {"security", {{{"key", ordered_json::array()}}, ordered_json::object()}}};
}

}  // namespace

ordered_json openapi_document(const Checkpoint& checkpoint) {
  ordered_json paths;
  const std::vector<std::string> verbs = verb_names(checkpoint);
  for (const Endpoint& endpoint : endpoints())
    if (std::find(verbs.begin(), verbs.end(), endpoint.verb) != verbs.end())
      paths[std::string("/v1/dna/") + endpoint.verb] = {{"post", operation_of(endpoint)}};
  for (const char* const name : {"health", "version"})
    paths[std::string("/") + name] = {
        {"get", {{"operationId", name}, {"responses", answers(object_schema(ordered_json::object()))}}}};
  paths["/health"]["get"]["responses"]["503"] = {
      {"description", "the model is being loaded, or the server ends"},
      {"content", json_body(answer_schema({{"status", text_schema("")}}))}};
  const ordered_json error =
      object_schema({{"error", object_schema({{"message", text_schema("")},
                                              {"type", text_schema("")},
                                              {"param", {{"type", {"string", "null"}}}},
                                              {"code", {{"type", {"string", "null"}}}}})}});
  return {
      {"openapi", "3.1.0"},
      {"info",
       {{"title", "carbon serve"},
        {"version", CARBON_VERSION},
        {"description",
         "DNA language models in bases. OpenAI's endpoints (/v1/completions, /v1/embeddings, /v1/models) and "
         "/tokenize, /detokenize and /metrics are not described here."}}},
      {"paths", paths},
      {"components",
       {{"schemas", {{"error", error}}},
        {"securitySchemes", {{"key", {{"type", "http"}, {"scheme", "bearer"}}}}}}}};
}

}  // namespace carbon
