#include "src/engine/request.hpp"

namespace carbon {

std::vector<uint32_t> Request::prefix() const {
  if (!parent) return {};
  std::vector<uint32_t> all = parent->prefix();
  all.insert(all.end(), parent->tokens.begin(), parent->tokens.end());
  all.resize(shared);
  return all;
}

size_t Request::bytes(size_t hidden) const {
  const size_t rows = tokens.size() - std::min(want_begin, tokens.size());
  size_t results = 0;
  switch (head) {
    case HeadKind::none:
      break;
    case HeadKind::marginals:
      results = rows * ops::kMarginals * sizeof(double);
      break;
    case HeadKind::token_logprobs:
      results = rows * sizeof(double);
      break;
    case HeadKind::kmer_logits:
      results = rows * ops::kKmers * sizeof(float);
      break;
    case HeadKind::hidden:
      results = rows * hidden * sizeof(float);
      break;
    case HeadKind::mean_hidden:
      results = hidden * sizeof(float);
      break;
  }
  if (generation) results += generation->bases->kmers() * sizeof(uint16_t);
  return sizeof(Request) + (tokens.size() + targets.size()) * sizeof(uint32_t) + results;
}

}  // namespace carbon
