#include "src/engine/request.hpp"

namespace carbon {

std::vector<uint32_t> Request::prefix() const {
  if (!parent) return {};
  std::vector<uint32_t> all = parent->prefix();
  all.insert(all.end(), parent->tokens.begin(), parent->tokens.end());
  all.resize(shared);
  return all;
}

Error not_finite(const std::string& command, const std::string& what) {
  return {command, "non-finite " + what + "; the checkpoint's weights or activations are not finite"};
}

void Request::lower_forks() {
  for (uint32_t now = forks; now > 0 && !forks.compare_exchange_weak(now, now - 1);) {
  }
}

size_t head_width(HeadKind head, const ResultSizes& sizes) {
  switch (head) {
    case HeadKind::none:
      return 0;
    case HeadKind::marginals:
    case HeadKind::conditionals:
      return sizes.bases * ops::kLetters;
    case HeadKind::token_logprobs:
      return 1;
    case HeadKind::kmer_ranks:
      return kRankWidth;
    case HeadKind::class_logits:
      return AnnotatorConfig::kStrands * AnnotatorConfig::kClasses * sizes.bases;
    case HeadKind::kmer_logits:
      return size_t{1} << 2 * sizes.bases;
    case HeadKind::hidden:
    case HeadKind::mean_hidden:
      break;
  }
  return sizes.hidden;
}

size_t Request::bytes(const ResultSizes& sizes) const {
  const size_t rows = head == HeadKind::mean_hidden ? 1 + targets.size() : wanted_rows();
  size_t results = rows * head_width(head, sizes) * (gives_doubles(head) ? sizeof(double) : sizeof(float));
  if (generation)
    results += generation->bases->kmers() *
               (sizeof(uint16_t) + (generation->rank ? kRankWidth * sizeof(double) : 0));
  return sizeof(Request) + (tokens.size() + targets.size()) * sizeof(uint32_t) + results;
}

bool same_tokens(const Request& a, const Request& b) {
  return a.shared == b.shared && a.tokens == b.tokens && (a.parent == b.parent || a.prefix() == b.prefix());
}

}  // namespace carbon
