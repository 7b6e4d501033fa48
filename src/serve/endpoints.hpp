// What api.cpp gives paths to: the endpoints that ask the model, each as what makes a Work of a request;
// their description for programs; and the files of the page.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string_view>

#include "src/serve/work.hpp"
#include "src/verbs/served_model.hpp"

namespace carbon {

class Checkpoint;

/// OpenAI's completions, in 6-mers.
WorkPtr make_completion(const ServedModel& served, HttpExchangePtr exchange);
/// OpenAI's embeddings, with the numbers of `carbon embed`.
WorkPtr make_embedding(const ServedModel& served, HttpExchangePtr exchange);
/// {"prompt": text} becomes {"count", "max_model_len", "tokens"}, as `carbon tokenize` does it.
WorkPtr make_tokenize(const ServedModel& served, HttpExchangePtr exchange);
/// {"tokens": ids} becomes {"prompt"}.
WorkPtr make_detokenize(const ServedModel& served, HttpExchangePtr exchange);

/// Verbs, each with the numbers of the command. Their fields are the settings of the verb.
WorkPtr make_dna_score(const ServedModel& served, HttpExchangePtr exchange);
WorkPtr make_dna_embed(const ServedModel& served, HttpExchangePtr exchange);
WorkPtr make_dna_predict(const ServedModel& served, HttpExchangePtr exchange);
WorkPtr make_dna_annotate(const ServedModel& served, HttpExchangePtr exchange);
WorkPtr make_dna_generate(const ServedModel& served, HttpExchangePtr exchange);
/// `reference`: the FASTA of the server; null if it has none.
WorkPtr make_dna_scan(const ServedModel& served, SharedReference* reference, HttpExchangePtr exchange);
WorkPtr make_dna_variants(const ServedModel& served, SharedReference* reference, HttpExchangePtr exchange);

/// GET /openapi.json: what /v1/dna/*, /health and /version take and answer, as OpenAPI 3.1, for the verbs
/// that this model can be used for. The fields of verbs come from their declarations (src/base/settings.hpp).
/// OpenAI's endpoints are left out: they read their own fields, which their makers describe.
nlohmann::ordered_json openapi_document(const Checkpoint& checkpoint);

/// A file of the web page of the server, which the Makefile puts into the program from src/serve/page.
struct PageFile {
  std::string_view path;  // "/" for index.html, "/NAME" for another
  std::string_view content_type;
  std::string_view bytes;
};

std::span<const PageFile> page_files();

}  // namespace carbon
