// Checkpoints of one base a token for tests, and their decoder with the logits of its whole vocabulary.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "src/transformer/decoder.hpp"
#include "src/transformer/f16_exponents.hpp"
#include "test/reference/llama.hpp"
#include "test/unit/generated_checkpoint.hpp"

namespace carbon::test {

/// A small MarinDNA: the heads are wider than the hidden state divided by their number.
inline std::string tiny_letters(const std::string& more = "") {
  return "--preset marin --hidden 72 --layers 3 --heads 4 --kv-heads 2 --head-dim 32 --intermediate 128 " +
         more;
}

struct LetterDecoder {
  LetterDecoder(const std::string& dir, const ops::CpuOptions& options)
      : LetterDecoder(dir, ops::make_cpu_backend(options)) {}
  LetterDecoder(const std::string& dir, std::unique_ptr<ops::Backend> made)
      : checkpoint(dir),
        backend(std::move(made)),
        decoder(*backend, checkpoint),
        head(backend->prepare(checkpoint.head(),
                              final_exponent(backend->dtype(), decoder_tensors(checkpoint)))) {}

  /// Logits of all rows of the chunks, [rows, vocab].
  std::vector<float> logits(std::span<const Chunk> chunks) {
    const HiddenRows rows = decoder.forward(chunks);
    std::vector<float> z(rows.count * head->rows());
    backend->logits(rows.act, rows.count, *head, z.data(), rows.row_class);
    return z;
  }
  std::vector<float> logits(std::span<const uint32_t> tokens,
                            ops::RowClass row_class = ops::RowClass::prefill) {
    Sequence sequence = decoder.kv().make_sequence();
    const Chunk chunk{&sequence, tokens, 0, tokens.size(), row_class};
    return logits(std::span<const Chunk>(&chunk, 1));
  }

  Checkpoint checkpoint;
  std::unique_ptr<ops::Backend> backend;
  Decoder decoder;
  std::unique_ptr<ops::Weight> head;  // all rows
};

/// [BOS] and one token for each letter, as tokenizer.json says, without [EOS].
inline std::vector<uint32_t> letter_tokens(const LetterVocabulary& vocabulary, const std::string& bases) {
  std::vector<uint32_t> tokens{vocabulary.begin};
  for (const char base : bases) {
    const int digit = base_digit(base);
    tokens.push_back(digit < 0 ? vocabulary.unknown : vocabulary.letters[static_cast<size_t>(digit)]);
  }
  return tokens;
}

/// Natural logs of the probabilities of A, T, C and G, by the softmax over their four logits.
template <class T>
std::array<double, 4> letter_logps(const LetterVocabulary& vocabulary, const T* logits) {
  std::array<double, 4> z{};
  double top = -INFINITY, sum = 0;
  for (size_t i = 0; i < z.size(); ++i) {
    z[i] = static_cast<double>(logits[vocabulary.letters[i]]);
    top = std::max(top, z[i]);
  }
  for (const double one : z) sum += std::exp(one - top);
  for (double& one : z) one -= top + std::log(sum);
  return z;
}

/// The largest distance of a letter's log-probability in logits [rows, vocab] from those of hidden states by
/// the double-precision reference.
inline double worst_letter(const Checkpoint& checkpoint, const reference::Matrix<double>& truth,
                           const std::vector<float>& logits) {
  const LetterVocabulary& letters = *checkpoint.config().layout.letters;
  const size_t vocab = checkpoint.config().vocab;
  double worst = 0;
  for (size_t t = 0; t < truth.size(); ++t) {
    const std::vector<double> exact = reference::logits(checkpoint, truth[t], 0, vocab);
    const auto want = letter_logps(letters, exact.data()), got = letter_logps(letters, &logits[t * vocab]);
    for (size_t i = 0; i < want.size(); ++i) {
      const double distance = std::abs(want[i] - got[i]);
      if (!(distance <= worst)) worst = distance;  // NaN is the worst
    }
  }
  return worst;
}

}  // namespace carbon::test
