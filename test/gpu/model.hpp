// A small model on a backend, and what the checks of whole passes do with it.
#pragma once

#include <memory>
#include <random>
#include <span>
#include <vector>

#include "src/transformer/decoder.hpp"
#include "src/transformer/head.hpp"
#include "test/gpu/check.hpp"
#include "test/unit/generated_checkpoint.hpp"

namespace carbon::gpu_test {

using test::GeneratedCheckpoint;
using test::tiny;

using Tokens = std::vector<uint32_t>;
inline constexpr ops::RowClass kPrefill = ops::RowClass::prefill, kDecode = ops::RowClass::decode;

struct Model {
  Model(const Checkpoint& checkpoint, std::unique_ptr<ops::Backend> made)
      : backend(std::move(made)), decoder(*backend, checkpoint), head(*backend, checkpoint) {}
  std::unique_ptr<ops::Backend> backend;
  Decoder decoder;
  Head head;
};

inline Tokens random_tokens(const Checkpoint& checkpoint, size_t n, unsigned seed) {
  std::mt19937 random(seed);
  const TokenLayout& layout = checkpoint.config().layout;
  Tokens tokens{layout.begin()};
  while (tokens.size() < n)
    tokens.push_back(random() % 50 == 0 ? layout.oov() : layout.kmer0() + random() % kKmerCount);
  return tokens;
}

/// Marginals of the wanted rows of one pass. Rows of one class that follow one another are read together.
inline std::vector<double> pass_marginals(Model& model, std::span<const Chunk> chunks) {
  const HiddenRows rows = model.decoder.forward(chunks);
  std::vector<double> out(rows.count * ops::kMarginals);
  size_t row = 0;
  for (auto at = chunks.begin(); at != chunks.end();) {
    const ops::RowClass row_class = at->row_class;
    size_t count = 0;
    for (; at != chunks.end() && at->row_class == row_class; ++at) count += at->want_end - at->want_begin;
    if (count > 0)
      model.head.marginals(model.decoder.part(rows, row, count, row_class),
                           out.data() + row * ops::kMarginals);
    row += count;
  }
  return out;
}

/// The same in as many passes as the chunks take, each of whole chunks.
inline std::vector<double> marginals(Model& model, std::span<const Chunk> chunks) {
  std::vector<double> out;
  while (!chunks.empty()) {
    size_t count = 0, rows = 0;
    do {
      rows += chunks[count++].tokens.size();
    } while (count < chunks.size() && rows + chunks[count].tokens.size() <= model.backend->pass_rows());
    const std::vector<double> some = pass_marginals(model, chunks.first(count));
    out.insert(out.end(), some.begin(), some.end());
    chunks = chunks.subspan(count);
  }
  return out;
}
inline std::vector<double> marginals(Model& model, Sequence& sequence, std::span<const uint32_t> tokens,
                                     ops::RowClass row_class = kPrefill) {
  const Chunk chunk{&sequence, tokens, 0, tokens.size(), row_class};
  return marginals(model, std::span(&chunk, 1));
}
inline std::vector<double> marginals(Model& model, const Tokens& tokens, ops::RowClass row_class = kPrefill) {
  Sequence sequence = model.decoder.kv().make_sequence();
  return marginals(model, sequence, tokens, row_class);
}

/// The values from row `from_row` on.
inline std::vector<double> tail(const std::vector<double>& all, size_t from_row) {
  return {all.begin() + static_cast<ptrdiff_t>(from_row * ops::kMarginals), all.end()};
}

}  // namespace carbon::gpu_test
