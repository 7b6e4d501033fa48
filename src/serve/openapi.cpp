#include "src/serve/openapi.hpp"

#include <string>

#include "src/verbs/schema.hpp"
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

// A verb over HTTP: the fields that its inputs are, those of them that must be there, and its answer.
struct Endpoint {
  const char* verb;
  ordered_json inputs, required, answer;
};

std::vector<Endpoint> endpoints() {
  const ordered_json sequences = {{"sequences", list_schema({{"type", "string"}}, "bases")}};
  const auto results = [](ordered_json one) {
    return object_schema({{"results", list_schema(object_schema(std::move(one)), "")}});
  };
  return {{"score",
           sequences,
           {"sequences"},
           results({{"n_scored", {{"type", "integer"}}},
                    {"sum_logp", number()},
                    {"mean_logp", number()},
                    {"logp", numbers()},
                    {"probabilities", rows()},
                    {"entropy", numbers()}})},
          {"embed", sequences, {"sequences"}, results({{"embedding", rows()}})},
          {"predict", sequences, {"sequences"}, results({{"values", numbers()}})},
          {"generate",
           {{"prompt", text_schema("bases; none: from the beginning of a sequence")},
            {"n", {{"type", "integer"}, {"minimum", 1}, {"description", "an older name of num"}}},
            {"stream", {{"type", "boolean"}, {"description", "send events instead of one answer"}}}},
           ordered_json::array(),
           object_schema({{"samples", list_schema(object_schema({{"sequence", text_schema("")},
                                                                 {"logp", number()},
                                                                 {"probabilities", rows()}}),
                                                  "")},
                          {"seed", {{"type", "integer"}}}})},
          {"variants",
           {{"variants", list_schema(variant_schema(), "")}},
           {"variants"},
           results({{"chrom", text_schema("")},
                    {"pos", {{"type", "integer"}}},
                    {"ref", text_schema("")},
                    {"alt", text_schema("")},
                    {"score", number()},
                    {"values", numbers()},
                    {"flag", {{"type", {"string", "null"}}}}})},
          {"scan",
           {{"sequence", text_schema("bases")},
            {"region",
             text_schema("of the server's FASTA, such as chr17:43094600-43094700, in place of sequence")}},
           ordered_json::array(),
           object_schema({{"chrom", text_schema("")},
                          {"pos", {{"type", "integer"}}},
                          {"sequence", text_schema("the bases of a region")},
                          {"sequence_length", {{"type", "integer"}}},
                          {"letters", text_schema("")},
                          {"logp", rows()}})}};
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
  return {{"operationId", endpoint.verb},
          {"summary", verb.about},
          {"description", std::string("Unit: ") + verb.units + "."},
          {"requestBody", {{"required", true}, {"content", json_body(std::move(schema))}}},
          {"responses", answers(endpoint.answer)},
          {"security", {{{"key", ordered_json::array()}}, ordered_json::object()}}};
}

}  // namespace

ordered_json openapi_document() {
  ordered_json paths;
  for (const Endpoint& endpoint : endpoints())
    paths[std::string("/v1/dna/") + endpoint.verb] = {{"post", operation_of(endpoint)}};
  for (const char* const name : {"health", "version"})
    paths[std::string("/") + name] = {
        {"get", {{"operationId", name}, {"responses", answers(object_schema(ordered_json::object()))}}}};
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
