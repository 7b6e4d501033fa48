#include "src/serve/openapi.hpp"

#include <string>

#include "src/verbs/verb.hpp"
#include "version.h"

namespace carbon {
namespace {

using nlohmann::ordered_json;

ordered_json text(const char* about) {
  return {{"type", "string"}, {"description", about}};
}
ordered_json list_of(ordered_json items, const char* about) {
  return {{"type", "array"}, {"items", std::move(items)}, {"description", about}};
}
ordered_json object(ordered_json properties, const ordered_json& required = ordered_json::array()) {
  ordered_json schema = {{"type", "object"}, {"properties", std::move(properties)}};
  if (!required.empty()) schema["required"] = required;
  return schema;
}

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

ordered_json variant_schema() {
  ordered_json schema =
      object({{"chrom", text("contig of the server's FASTA; not with sequence")},
              {"pos", {{"type", "integer"}, {"minimum", 0}, {"description", "counted from 1"}}},
              {"ref", text("")},
              {"alt", text("bases, or <DEL>, <DUP> or <INV>")},
              {"end", {{"type", "integer"}, {"description", "of these three, as END of a VCF"}}},
              {"svlen", {{"type", "integer"}, {"description", "the same as a length"}}},
              {"info", {{"type", "object"}, {"description", "other INFO tags of theirs"}}}},
             {"pos", "ref", "alt"});
  return {{"oneOf", {std::move(schema), text("such as chr17:43094692 G>T")}}};
}

std::vector<Endpoint> endpoints() {
  const ordered_json sequences = {{"sequences", list_of({{"type", "string"}}, "bases")}};
  const auto results = [](ordered_json one) {
    return object({{"results", list_of(object(std::move(one)), "")}});
  };
  return {
      {"score",
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
       {{"prompt", text("bases; none: from the beginning of a sequence")},
        {"n", {{"type", "integer"}, {"minimum", 1}, {"description", "an older name of num"}}},
        {"stream", {{"type", "boolean"}, {"description", "send events instead of one answer"}}}},
       ordered_json::array(),
       object({{"samples",
                list_of(object({{"sequence", text("")}, {"logp", number()}, {"probabilities", rows()}}), "")},
               {"seed", {{"type", "integer"}}}})},
      {"variants",
       {{"variants", list_of(variant_schema(), "")}},
       {"variants"},
       results({{"chrom", text("")},
                {"pos", {{"type", "integer"}}},
                {"ref", text("")},
                {"alt", text("")},
                {"score", number()},
                {"values", numbers()},
                {"flag", {{"type", {"string", "null"}}}}})},
      {"scan",
       {{"sequence", text("bases")},
        {"region", text("of the server's FASTA, such as chr17:43094600-43094700, in place of sequence")}},
       ordered_json::array(),
       object({{"chrom", text("")},
               {"pos", {{"type", "integer"}}},
               {"sequence_length", {{"type", "integer"}}},
               {"letters", text("")},
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
  const ordered_json settings = settings_schema(verb, Door::http);
  ordered_json properties = endpoint.inputs;
  properties.update(settings["properties"]);
  properties["model"] = text("the name of the model that is served");
  ordered_json required = endpoint.required;
  for (const auto& name : settings.value("required", ordered_json::array())) required.push_back(name);
  ordered_json schema = object(std::move(properties), required);
  schema["additionalProperties"] = false;
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
        {"get", {{"operationId", name}, {"responses", answers(object(ordered_json::object()))}}}};
  const ordered_json error = object({{"error", object({{"message", text("")},
                                                       {"type", text("")},
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
