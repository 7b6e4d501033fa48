// The decoder of a Qwen3 with one base a token: against a double-precision reference, and the invariance rule
// by memcmp.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <random>

#include "kernels/cpu/cpu_machine.hpp"
#include "src/base/error.hpp"
#include "test/unit/letter_checkpoint.hpp"

using namespace carbon;
using carbon::test::GeneratedCheckpoint;
using carbon::test::letter_tokens;
using carbon::test::LetterDecoder;
using carbon::test::tiny_letters;
using carbon::test::worst_letter;

namespace {

std::string random_bases(size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::string bases;
  while (bases.size() < n) bases += random() % 50 == 0 ? 'N' : "ACGTacgt"[random() % 8];
  return bases;
}

bool same_bits(std::span<const float> a, std::span<const float> b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

struct CpuKind {
  std::string name;
  ops::CpuOptions options;
};

/// Every instruction set of this CPU in f32, bf16 and int8.
std::vector<CpuKind> cpu_kinds(int threads) {
  std::vector<CpuKind> kinds;
  for (const std::string& isa : cpu::known_isas()) {
    try {
      ops::cpu_isa(isa);
    } catch (const Error&) {
      MESSAGE("SKIPPED " << isa << ": not on this CPU");
      continue;
    }
    for (const DType type : {DType::f32, DType::bf16})
      kinds.push_back({isa + " " + dtype_name(type), {type, threads, isa}});
    kinds.push_back({isa + " int8", {DType::bf16, threads, isa, true}});
  }
  return kinds;
}

}  // namespace

TEST_CASE("letters: f32 mode is as close to double as a naive float implementation") {
  const std::string shapes[] = {
      tiny_letters(),
      tiny_letters("--tied 0 --dtype f32 --eos 1"),
      tiny_letters("--heads 3 --kv-heads 3 --head-dim 40 --tied 0"),
      tiny_letters("--heads 4 --kv-heads 1 --head-dim 128 --dtype f16"),
      tiny_letters("--llama3 0 --kv-heads 4"),
      tiny_letters("--llama3 8 --llama3-original 256"),
  };
  for (const std::string& shape : shapes) {
    CAPTURE(shape);
    const GeneratedCheckpoint files(shape);
    LetterDecoder model(files.dir(), {DType::f32, 2});
    const auto tokens = letter_tokens(*model.checkpoint.config().layout.letters, random_bases(150, 5));
    const auto truth = reference::hidden_states<double>(model.checkpoint, tokens);
    std::vector<float> naive;
    for (const auto& row : reference::hidden_states<float>(model.checkpoint, tokens)) {
      const std::vector<float> z =
          reference::logits(model.checkpoint, row, 0, model.checkpoint.config().vocab);
      naive.insert(naive.end(), z.begin(), z.end());
    }
    const double worst = worst_letter(model.checkpoint, truth, model.logits(tokens));
    CHECK(worst <= 2 * worst_letter(model.checkpoint, truth, naive));
    CHECK(worst < 2e-4);
  }
}

TEST_CASE("letters: the norms of heads and the frequencies of Llama 3 count") {
  const std::string shape = tiny_letters("--dtype f32 --llama3-original 256");
  const GeneratedCheckpoint files(shape), plain(tiny_letters("--dtype f32 --llama3 0"));
  const ops::CpuOptions f32{DType::f32, 2};
  LetterDecoder model(files.dir(), f32), other(plain.dir(), f32);
  const auto tokens = letter_tokens(*model.checkpoint.config().layout.letters, random_bases(150, 5));
  const auto truth = reference::hidden_states<double>(model.checkpoint, tokens);
  CHECK(worst_letter(model.checkpoint, truth, model.logits(tokens)) < 2e-4);
  CHECK(worst_letter(model.checkpoint, truth, other.logits(tokens)) > 2e-2);
}

TEST_CASE("letters: a row's bits do not depend on threads, chunks, forks or neighbours") {
  const GeneratedCheckpoint files(tiny_letters("--head-dim 48"));
  const std::vector<CpuKind> kinds = cpu_kinds(2), single = cpu_kinds(1);
  for (size_t i = 0; i < kinds.size(); ++i) {
    CAPTURE(kinds[i].name);
    LetterDecoder model(files.dir(), kinds[i].options), one_thread(files.dir(), single[i].options);
    const size_t vocab = model.checkpoint.config().vocab;
    const auto tokens = letter_tokens(*model.checkpoint.config().layout.letters, random_bases(255, 7));
    const auto noise = letter_tokens(*model.checkpoint.config().layout.letters, random_bases(37, 9));
    const std::vector<float> whole = model.logits(tokens);
    const auto from = [&](size_t row) { return std::span(whole).subspan(row * vocab); };
    CHECK(same_bits(whole, one_thread.logits(tokens)));
    for (const size_t cut : {size_t{1}, size_t{64}, size_t{128}, size_t{255}}) {
      CAPTURE(cut);
      const std::span<const uint32_t> first = std::span(tokens).first(cut),
                                      rest = std::span(tokens).subspan(cut);
      Sequence sequence = model.decoder.kv().make_sequence(), other = model.decoder.kv().make_sequence();
      const Chunk chunks[] = {{&other, noise, 0, 5}, {&sequence, first, first.size(), first.size()}};
      model.logits(chunks);
      // Two alleles go on from one prefix, in one pass.
      Sequence fork = sequence.fork();
      const Chunk both[] = {{&sequence, rest, 0, rest.size()}, {&fork, rest, 0, rest.size()}};
      const std::vector<float> got = model.logits(both);
      CHECK(same_bits(from(cut), std::span(got).first(rest.size() * vocab)));
      CHECK(same_bits(from(cut), std::span(got).subspan(rest.size() * vocab)));
    }
    // Many windows in one pass.
    std::vector<Sequence> sequences;
    for (int n = 0; n < 9; ++n) sequences.push_back(model.decoder.kv().make_sequence());
    std::vector<Chunk> chunks;
    for (Sequence& sequence : sequences)
      chunks.push_back({&sequence, chunks.size() % 2 ? std::span<const uint32_t>(noise) : tokens, 0,
                        chunks.size() % 2 ? noise.size() : tokens.size()});
    const std::vector<float> packed = model.logits(chunks);
    CHECK(same_bits(whole, std::span(packed).last(whole.size())));
  }
}
