// Log-probabilities of k-mers, the tokens of k bases, as clients expect those of tokens: the form of OpenAI's
// completions, and that of vLLM's prompt_logprobs.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "src/sampling/ranks.hpp"
#include "tokenizer/kmer.hpp"

namespace carbon {

/// One k-mer of a text, or a token before it.
struct RankedToken {
  std::string letters;
  size_t offset = 0;              // of its first base in the text; 0 for one that begins before the text
  std::span<const double> ranks;  // a row of kRankWidth, or none: then its log-probability is null
};

/// {"tokens","token_logprobs","top_logprobs","text_offset"}, with the `top` likeliest k-mers and the one that
/// is there.
class LogprobList {
 public:
  LogprobList(size_t top, size_t k);
  void add(const RankedToken& token);
  bool empty() const { return list_["tokens"].empty(); }
  /// Hands over the object and begins a new one.
  nlohmann::ordered_json take();

 private:
  size_t top_, k_;
  nlohmann::ordered_json list_;
};

/// An entry of prompt_logprobs: by token id the log-probability, rank and letters of the k-mer `kmer` of a
/// prompt and of the `top` likeliest ones; null without ranks.
nlohmann::ordered_json prompt_logprob(std::span<const double> ranks, uint32_t kmer, size_t top,
                                      const TokenLayout& layout);

}  // namespace carbon
