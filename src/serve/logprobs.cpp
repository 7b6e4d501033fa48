#include "src/serve/logprobs.hpp"

#include <algorithm>
#include <utility>

namespace carbon {

using nlohmann::ordered_json;

namespace {

// Calls `take` with index, log-probability and rank of the `top` likeliest k-mers of a row.
template <class Take>
void each_likeliest(std::span<const double> ranks, size_t top, Take take) {
  for (size_t i = 0; i < std::min(top, kRanked) && ranks[2 + 2 * i] >= 0; ++i)
    take(static_cast<size_t>(ranks[2 + 2 * i]), ranks[3 + 2 * i], i + 1);
}

ordered_json empty_list() {
  return {{"tokens", ordered_json::array()},
          {"token_logprobs", ordered_json::array()},
          {"top_logprobs", ordered_json::array()},
          {"text_offset", ordered_json::array()}};
}

}  // namespace

LogprobList::LogprobList(size_t top, size_t k) : top_(top), k_(k), list_(empty_list()) {}

void LogprobList::add(const RankedToken& token) {
  const bool known = !token.ranks.empty() && token.ranks[1] > 0;
  list_["tokens"].push_back(token.letters);
  list_["token_logprobs"].push_back(known ? ordered_json(token.ranks[0]) : ordered_json());
  list_["text_offset"].push_back(token.offset);
  ordered_json top;
  if (known) {
    top = ordered_json::object();
    each_likeliest(token.ranks, top_,
                   [&](size_t kmer, double logp, size_t) { top[kmer_text(kmer, k_)] = logp; });
    top[token.letters] = token.ranks[0];
  }
  list_["top_logprobs"].push_back(std::move(top));
}

ordered_json LogprobList::take() {
  return std::exchange(list_, empty_list());
}

ordered_json prompt_logprob(std::span<const double> ranks, uint32_t kmer, size_t top,
                            const TokenLayout& layout) {
  if (ranks.empty() || ranks[1] == 0) return nullptr;
  ordered_json entry = ordered_json::object();
  const auto add = [&](size_t index, double logp, size_t rank) {
    entry[std::to_string(layout.kmer_id(index))] = {
        {"logprob", logp}, {"rank", rank}, {"decoded_token", kmer_text(index, layout.bases())}};
  };
  add(kmer, ranks[0], static_cast<size_t>(ranks[1]));
  each_likeliest(ranks, top, add);
  return entry;
}

}  // namespace carbon
