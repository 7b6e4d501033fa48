#include "src/score/requests.hpp"

namespace carbon {

RequestPtr window_request(std::string_view sequence, const SlidingWindow& window, ScoreLevel level,
                          const TokenLayout& layout) {
  const std::string_view bases = sequence.substr(window.begin, window.end - window.begin);
  std::vector<uint32_t> kmers = encode_kmers(bases, layout);
  const auto request = std::make_shared<Request>();
  request->head = HeadKind::marginals;
  const size_t first_row = (window.take - window.begin) / kKmerLength;
  request->want_begin = layout.lead() + first_row;
  if (level == ScoreLevel::token) {
    kmers.resize(bases.size() / kKmerLength);  // a partial 6-mer has no value
    if (kmers.size() <= first_row) return nullptr;
    request->head = HeadKind::token_logprobs;
    request->targets.assign(kmers.begin() + static_cast<ptrdiff_t>(first_row), kmers.end());
  }
  // Row i predicts 6-mer i from what begins the sequence and the 6-mers before it, so the last 6-mer, whole
  // or not, is never an input.
  request->tokens = layout.start();
  request->tokens.insert(request->tokens.end(), kmers.begin(), kmers.end() - 1);
  return request;
}

}  // namespace carbon
