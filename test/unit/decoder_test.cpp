// The decoder and heads against the double-precision reference, and the invariance rule by memcmp.
#include "src/transformer/decoder.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "kernels/cpu/cpu_machine.hpp"
#include "src/base/error.hpp"
#include "src/transformer/head.hpp"
#include "test/reference/llama.hpp"
#include "test/unit/generated_checkpoint.hpp"

using namespace carbon;
using carbon::test::GeneratedCheckpoint;
using carbon::test::tiny;

namespace {

struct Model {
  Model(const std::string& dir, DType dtype, int threads = 2, const std::string& isa = "", bool int8 = false)
      : checkpoint(dir),
        backend(ops::make_cpu_backend({dtype, threads, isa, int8})),
        decoder(*backend, checkpoint),
        head(*backend, checkpoint) {}

  Checkpoint checkpoint;
  std::unique_ptr<ops::Backend> backend;
  Decoder decoder;
  Head head;
};

std::vector<uint32_t> random_tokens(const Checkpoint& checkpoint, size_t n, unsigned seed) {
  std::mt19937 random(seed);
  const TokenLayout& layout = checkpoint.config().layout;
  std::vector<uint32_t> tokens{layout.begin()};
  while (tokens.size() < n)
    tokens.push_back(random() % 50 == 0 ? layout.oov() : layout.kmer0() + random() % kKmerCount);
  return tokens;
}

std::vector<double> marginals(Model& model, Sequence& sequence, const std::vector<uint32_t>& tokens,
                              size_t want_begin = 0) {
  const Chunk chunk{&sequence, tokens, want_begin, tokens.size()};
  const HiddenRows rows = model.decoder.forward(std::span(&chunk, 1));
  std::vector<double> out(rows.count * ops::kMarginals);
  model.head.marginals(rows, out.data());
  return out;
}

std::vector<double> marginals(Model& model, const std::vector<uint32_t>& tokens) {
  Sequence sequence = model.decoder.kv().make_sequence();
  return marginals(model, sequence, tokens);
}

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

std::vector<double> tail(const std::vector<double>& all, size_t from_row) {
  return {all.begin() + static_cast<ptrdiff_t>(from_row * ops::kMarginals), all.end()};
}

template <class T>
double reference_error(const Checkpoint& checkpoint, const reference::Matrix<double>& truth,
                       const reference::Matrix<T>& rows) {
  double worst = 0;
  for (size_t t = 0; t < rows.size(); ++t) {
    const auto a = reference::marginals(checkpoint, truth[t]), b = reference::marginals(checkpoint, rows[t]);
    for (size_t i = 0; i < a.size(); ++i) worst = std::max(worst, std::abs(a[i] - b[i]));
  }
  return worst;
}

}  // namespace

TEST_CASE("f32 mode is as close to double as a naive float implementation") {
  const std::string shapes[] = {
      tiny(),
      tiny("--head-dim 64 --heads 4 --kv-heads 1 --tied 0 --dtype f32"),
      tiny("--head-dim 96 --heads 2 --kv-heads 2 --hidden 96 --dtype f16 --shards 2"),
      tiny("--head-dim 128 --heads 8 --kv-heads 1 --hidden 48 --layers 2"),
      tiny("--head-dim 20 --heads 3 --kv-heads 3 --hidden 60 --intermediate 100"),
      tiny("--head-dim 64 --yarn 4 --yarn-original 1024"),
  };
  for (const std::string& shape : shapes) {
    CAPTURE(shape);
    const GeneratedCheckpoint files(shape);
    Model model(files.dir(), DType::f32);
    const std::vector<uint32_t> tokens = random_tokens(model.checkpoint, 97, 5);
    const auto truth = reference::hidden_states<double>(model.checkpoint, tokens);
    const double naive =
        reference_error(model.checkpoint, truth, reference::hidden_states<float>(model.checkpoint, tokens));
    const std::vector<double> got = marginals(model, tokens);
    double worst = 0;
    for (size_t t = 0; t < tokens.size(); ++t) {
      const auto want = reference::marginals(model.checkpoint, truth[t]);
      for (size_t i = 0; i < want.size(); ++i)
        worst = std::max(worst, std::abs(want[i] - got[t * ops::kMarginals + i]));
    }
    CHECK(worst <= 2 * naive);
    CHECK(worst < 2e-4);

    Sequence sequence = model.decoder.kv().make_sequence();
    const Chunk chunk{&sequence, tokens, 0, tokens.size()};
    const HiddenRows rows = model.decoder.forward(std::span(&chunk, 1));
    std::vector<uint32_t> targets(tokens.begin() + 1, tokens.end());
    targets.push_back(model.checkpoint.config().layout.kmer0());
    std::vector<double> token_level(targets.size());
    model.head.token_logprob(rows, targets, token_level.data());
    for (size_t t = 0; t < targets.size(); t += 13)
      CHECK(token_level[t] ==
            doctest::Approx(reference::token_logprob(model.checkpoint, truth[t], targets[t])).epsilon(2e-5));
  }
}

TEST_CASE("a row's bits do not depend on threads, chunks, forks or neighbours") {
  const GeneratedCheckpoint files(tiny("--head-dim 48"));
  std::vector<std::string> classes = {""};
  for (const std::string& isa : cpu::known_isas()) {
    try {
      ops::cpu_isa(isa);
      classes.emplace_back(isa);
    } catch (const Error&) {
      MESSAGE("SKIPPED " << isa << ": not on this CPU");
    }
  }
  for (const std::string& isa : classes) {
    for (const std::string name : {"f32", "bf16", "int8"}) {
      const DType dtype = name == "f32" ? DType::f32 : DType::bf16;
      const bool int8 = name == "int8";
      CAPTURE(isa);
      CAPTURE(name);
      Model model(files.dir(), dtype, 2, isa, int8);
      const std::vector<uint32_t> tokens = random_tokens(model.checkpoint, 301, 7);
      const std::vector<double> whole = marginals(model, tokens);

      Model single(files.dir(), dtype, 1, isa, int8);
      CHECK(same_bits(whole, marginals(single, tokens)));

      // The same sequence in pieces, among other sequences.
      for (const size_t cut : {1u, 2u, 63u, 64u, 65u, 200u, 300u}) {
        CAPTURE(cut);
        Sequence sequence = model.decoder.kv().make_sequence(), other = model.decoder.kv().make_sequence();
        const std::vector<uint32_t> noise = random_tokens(model.checkpoint, 37, 99);
        const std::vector<uint32_t> first(tokens.begin(), tokens.begin() + cut),
            rest(tokens.begin() + cut, tokens.end());
        const Chunk chunks[] = {{&other, noise, 0, 5}, {&sequence, first, first.size(), first.size()}};
        model.decoder.forward(chunks);
        CHECK(same_bits(tail(whole, cut), marginals(model, sequence, rest)));
      }

      // A fork goes on from the shared prefix, and its parent is not disturbed.
      for (const size_t shared : {1u, 64u, 100u, 129u}) {
        CAPTURE(shared);
        Sequence parent = model.decoder.kv().make_sequence();
        const std::vector<uint32_t> stranger = random_tokens(model.checkpoint, 180, 8);
        const std::vector<uint32_t> prefix(tokens.begin(), tokens.begin() + shared),
            rest(tokens.begin() + shared, tokens.end());
        marginals(model, parent, prefix);
        Sequence fork = parent.fork();
        marginals(model, parent, stranger);
        CHECK(same_bits(tail(whole, shared), marginals(model, fork, rest)));
        fork.truncate(shared);
        marginals(model, fork, stranger);
        parent.truncate(shared);
        CHECK(same_bits(tail(whole, shared), marginals(model, parent, rest)));
      }
      CHECK(model.decoder.kv().pages_in_use() == 0);
    }
  }
}

TEST_CASE("on the CPU the class of rows changes no bit") {
  const GeneratedCheckpoint files(tiny());
  for (const DType dtype : {DType::f32, DType::bf16}) {
    Model model(files.dir(), dtype);
    const std::vector<uint32_t> tokens = random_tokens(model.checkpoint, 70, 13);
    const std::vector<double> prefill = marginals(model, tokens);
    Sequence sequence = model.decoder.kv().make_sequence();
    const Chunk chunk{&sequence, tokens, 0, tokens.size(), ops::RowClass::decode};
    const HiddenRows rows = model.decoder.forward(std::span(&chunk, 1));
    CHECK(rows.row_class == ops::RowClass::decode);
    std::vector<double> decode(prefill.size());
    model.head.marginals(rows, decode.data());
    CHECK(same_bits(prefill, decode));
  }
}

TEST_CASE("a long sequence gives the same rows as in steps") {
  const GeneratedCheckpoint files(tiny("--layers 2 --hidden 32 --head-dim 16"));
  Model model(files.dir(), DType::bf16);
  const std::vector<uint32_t> tokens = random_tokens(model.checkpoint, 2500, 3);
  const std::vector<double> whole = marginals(model, tokens);
  Sequence sequence = model.decoder.kv().make_sequence();
  const std::vector<uint32_t> first(tokens.begin(), tokens.begin() + 1000),
      rest(tokens.begin() + 1000, tokens.end());
  const std::vector<double> a = marginals(model, sequence, first), b = marginals(model, sequence, rest);
  CHECK(same_bits(std::vector<double>(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(a.size())), a));
  CHECK(same_bits(tail(whole, 1000), b));
}

TEST_CASE("only the rows asked for come back, with the same bits") {
  const GeneratedCheckpoint files(tiny());
  Model model(files.dir(), DType::bf16);
  const std::vector<uint32_t> tokens = random_tokens(model.checkpoint, 150, 11);
  const std::vector<double> whole = marginals(model, tokens);
  Sequence sequence = model.decoder.kv().make_sequence();
  const Chunk chunk{&sequence, tokens, 70, 71};
  const HiddenRows rows = model.decoder.forward(std::span(&chunk, 1));
  REQUIRE(rows.count == 1);
  std::vector<double> one(ops::kMarginals);
  model.head.marginals(rows, one.data());
  CHECK(std::memcmp(one.data(), whole.data() + 70 * ops::kMarginals, sizeof(double) * ops::kMarginals) == 0);
}

namespace {

std::vector<float> residual(Model& model, Sequence& sequence, std::span<const uint32_t> tokens, size_t blocks,
                            size_t want_begin = 0) {
  const Chunk chunk{&sequence, tokens, want_begin, tokens.size()};
  std::vector<float> rows((tokens.size() - want_begin) * model.decoder.config().hidden);
  model.decoder.download_residual(model.decoder.forward(std::span(&chunk, 1), blocks), rows.data());
  return rows;
}

std::vector<float> residual(Model& model, std::span<const uint32_t> tokens, size_t blocks) {
  Sequence sequence = model.decoder.kv().make_sequence();
  return residual(model, sequence, tokens, blocks);
}

bool same_bits(std::span<const float> a, std::span<const float> b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

}  // namespace

TEST_CASE("the residual stream after every block is the reference's") {
  const GeneratedCheckpoint files(tiny());
  Model model(files.dir(), DType::f32);
  const std::vector<uint32_t> tokens = random_tokens(model.checkpoint, 70, 21);
  const size_t hidden = model.decoder.config().hidden;
  const auto worst_against = [&](const reference::Matrix<double>& truth, const std::vector<float>& got) {
    double worst = 0;
    for (size_t i = 0; i < got.size(); ++i)
      worst = std::max(worst, std::abs(truth[i / hidden][i % hidden] - double{got[i]}));
    return worst;
  };
  for (size_t blocks = 1; blocks <= model.decoder.config().layers; ++blocks) {
    CAPTURE(blocks);
    const auto truth = reference::residual_stream<double>(model.checkpoint, tokens, blocks);
    CHECK(worst_against(truth, residual(model, tokens, blocks)) < 1e-4);
  }
  Sequence sequence = model.decoder.kv().make_sequence();
  const Chunk chunk{&sequence, tokens, 0, tokens.size()};
  std::vector<float> normed(tokens.size() * hidden);
  model.decoder.download_final(model.decoder.forward(std::span(&chunk, 1)), normed.data());
  CHECK(worst_against(reference::hidden_states<double>(model.checkpoint, tokens), normed) < 1e-4);
}

TEST_CASE("a residual row's bits do not depend on threads, chunks or neighbours") {
  const GeneratedCheckpoint files(tiny("--head-dim 48"));
  for (const DType dtype : {DType::f32, DType::bf16}) {
    Model model(files.dir(), dtype), single(files.dir(), dtype, 1);
    const size_t hidden = model.decoder.config().hidden;
    const std::vector<uint32_t> tokens = random_tokens(model.checkpoint, 2100, 22),
                                noise = random_tokens(model.checkpoint, 37, 99);
    for (const size_t blocks : {1u, 2u, 3u}) {
      CAPTURE(blocks);
      const std::vector<float> whole = residual(model, tokens, blocks);
      CHECK(same_bits(whole, residual(single, tokens, blocks)));
      const std::span<const uint32_t> all(tokens);
      for (const size_t cut : {1u, 64u, 300u, 2047u}) {
        Sequence sequence = model.decoder.kv().make_sequence(), other = model.decoder.kv().make_sequence();
        const Chunk chunks[] = {{&other, noise, 36, 37}, {&sequence, all.first(cut), cut - 1, cut}};
        std::vector<float> rows(2 * hidden);
        model.decoder.download_residual(model.decoder.forward(chunks, blocks), rows.data());
        CHECK(same_bits(std::span(rows).last(hidden), std::span(whole).subspan((cut - 1) * hidden, hidden)));
        CHECK(same_bits(residual(model, sequence, all.subspan(cut), blocks),
                        std::span(whole).subspan(cut * hidden)));
      }
      // The last row alone.
      Sequence sequence = model.decoder.kv().make_sequence();
      CHECK(same_bits(residual(model, sequence, tokens, blocks, 2099), std::span(whole).last(hidden)));
    }
    CHECK(model.decoder.kv().pages_in_use() == 0);
  }
}

namespace {

/// A part of the tokens of "both classes in a pass": behind the prompt if `first` is not 0.
struct Part {
  size_t first, count, want_begin;
  ops::RowClass row_class;
};

/// The residual stream and the marginals of the wanted rows of one pass through all blocks, and the residual
/// stream of one through the first block. Rows of one class are read together.
struct PassResults {
  std::vector<float> residual, first_block;
  std::vector<double> marginals;
};
PassResults run_pass(Model& model, const Sequence& prompt, std::span<const uint32_t> tokens,
                     std::span<const Part> parts) {
  PassResults results;
  const size_t hidden = model.decoder.config().hidden;
  for (const size_t blocks : {1u, 0u}) {
    std::vector<Sequence> sequences;
    sequences.reserve(parts.size());
    std::vector<Chunk> chunks;
    for (const Part& part : parts) {
      sequences.push_back(part.first == 0 ? model.decoder.kv().make_sequence() : prompt.fork());
      chunks.push_back({&sequences.back(), tokens.subspan(part.first, part.count), part.want_begin,
                        part.count, part.row_class});
    }
    const HiddenRows rows = model.decoder.forward(chunks, blocks);
    std::vector<float>& residual = blocks == 1 ? results.first_block : results.residual;
    residual.resize(rows.count * hidden);
    model.decoder.download_residual(rows, residual.data());
    if (blocks == 1) continue;
    results.marginals.resize(rows.count * ops::kMarginals);
    size_t row = 0;
    for (size_t i = 0; i < parts.size();) {
      const ops::RowClass row_class = parts[i].row_class;
      size_t count = 0;
      for (; i < parts.size() && parts[i].row_class == row_class; ++i)
        count += parts[i].count - parts[i].want_begin;
      if (count > 0)
        model.head.marginals(model.decoder.part(rows, row, count, row_class),
                             results.marginals.data() + row * ops::kMarginals);
      row += count;
    }
  }
  return results;
}

}  // namespace

TEST_CASE("both classes in a pass: every row has the bits that it has in a pass of its chunk alone") {
  const GeneratedCheckpoint files(tiny("--head-dim 48"));
  constexpr auto kPrefill = ops::RowClass::prefill, kDecode = ops::RowClass::decode;
  constexpr size_t kPrompt = 70;
  const std::vector<Part> some_wanted = {{0, 66, 0, kPrefill},     {kPrompt, 200, 130, kPrefill},
                                         {0, 5, 5, kPrefill},      {kPrompt, 1, 0, kDecode},
                                         {kPrompt, 4, 0, kDecode}, {kPrompt, 3, 2, kDecode}};
  std::vector<Part> all_wanted = some_wanted;
  for (Part& part : all_wanted) part.want_begin = 0;
  for (const DType dtype : {DType::f32, DType::bf16}) {
    Model model(files.dir(), dtype);
    const std::vector<uint32_t> tokens = random_tokens(model.checkpoint, 270, 17);
    Sequence prompt = model.decoder.kv().make_sequence();
    marginals(model, prompt, {tokens.begin(), tokens.begin() + kPrompt});
    for (const std::vector<Part>& parts : {some_wanted, all_wanted}) {
      PassResults alone;
      for (const Part& part : parts) {
        const PassResults rows = run_pass(model, prompt, tokens, std::span(&part, 1));
        alone.residual.insert(alone.residual.end(), rows.residual.begin(), rows.residual.end());
        alone.first_block.insert(alone.first_block.end(), rows.first_block.begin(), rows.first_block.end());
        alone.marginals.insert(alone.marginals.end(), rows.marginals.begin(), rows.marginals.end());
      }
      const PassResults together = run_pass(model, prompt, tokens, parts);
      CHECK(same_bits(alone.residual, together.residual));
      CHECK(same_bits(alone.first_block, together.first_block));
      CHECK(same_bits(alone.marginals, together.marginals));
    }
    CHECK(model.decoder.kv().pages_in_use() == 2);
  }
}

TEST_CASE("memory is given back, and no bit depends on that") {
  const GeneratedCheckpoint files(tiny());
  Model model(files.dir(), DType::bf16);
  const std::vector<uint32_t> tokens = random_tokens(model.checkpoint, 300, 31);
  KvCache& kv = model.decoder.kv();
  const std::vector<double> whole = marginals(model, tokens);
  Sequence first = kv.make_sequence(), second = kv.make_sequence();
  marginals(model, first, tokens);  // pages 0 to 4
  marginals(model, second, tokens);
  first.truncate(70);
  CHECK(kv.pages_in_use() == 7);
  // The lowest free pages are taken first, so that the highest can go.
  Sequence third = kv.make_sequence();
  third.reserve(100);
  CHECK(third.pages()[0] == 2);
  CHECK(third.pages()[1] == 3);
  second.truncate(0);
  model.decoder.free_unused_memory();
  CHECK_THROWS_AS(kv.store().copy_page(0, 4), Error);
  CHECK_NOTHROW(kv.store().copy_page(3, 3));
  CHECK(same_bits(tail(whole, 70), marginals(model, first, {tokens.begin() + 70, tokens.end()})));
  CHECK(same_bits(whole, marginals(model, third, tokens)));
  CHECK(same_bits(whole, marginals(model, second, tokens)));
}

TEST_CASE("what does not fit is refused before anything runs") {
  const GeneratedCheckpoint files(tiny("--max-positions 128"));
  Model model(files.dir(), DType::bf16);
  Sequence sequence = model.decoder.kv().make_sequence();
  const std::vector<uint32_t> long_tokens = random_tokens(model.checkpoint, 129, 1);
  const Chunk too_long{&sequence, long_tokens, 0, 1};
  CHECK_THROWS_WITH_AS(model.decoder.forward(std::span(&too_long, 1)),
                       doctest::Contains("context of 128 tokens"), Error);
  const std::vector<uint32_t> bad{4224};
  const Chunk outside{&sequence, bad, 0, 1};
  CHECK_THROWS_WITH_AS(model.decoder.forward(std::span(&outside, 1)),
                       doctest::Contains("outside the model's vocabulary"), Error);
  CHECK(sequence.length() == 0);
}
