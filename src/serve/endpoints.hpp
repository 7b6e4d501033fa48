// The endpoints that ask the model, each as what makes a Work of a request. api.cpp has their paths.
#pragma once

#include "src/serve/work.hpp"
#include "src/verbs/served_model.hpp"
#include "src/verbs/shared_reference.hpp"

namespace carbon {

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
WorkPtr make_dna_generate(const ServedModel& served, HttpExchangePtr exchange);
/// `reference`: the FASTA of the server; null if it has none.
WorkPtr make_dna_scan(const ServedModel& served, SharedReference* reference, HttpExchangePtr exchange);
WorkPtr make_dna_variants(const ServedModel& served, SharedReference* reference, HttpExchangePtr exchange);

}  // namespace carbon
