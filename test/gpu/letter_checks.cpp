// The decoder of a Qwen3 with one base a token: norms of heads before the rotation, frequencies of Llama 3.
#include <span>

#include "test/gpu/check.hpp"
#include "test/unit/letter_checkpoint.hpp"

namespace carbon::gpu_test {
namespace {

using test::GeneratedCheckpoint;
using test::LetterDecoder;
using test::tiny_letters;
using test::worst_letter;

/// As `agrees` of decoder_checks.cpp, for log-probabilities of letters in both classes of rows.
void letters_agree(Checks& checks, const Machine& machine, const Way& way, const std::string& shape) {
  const GeneratedCheckpoint files(shape);
  // Of f16, too, the error in bf16 is the bound.
  const DType type = way.dtype == DType::f16 ? DType::bf16 : way.dtype;
  LetterDecoder model(files.dir(), make(machine, way)), cpu(files.dir(), {type, 2});
  const LetterVocabulary& letters = *model.checkpoint.config().layout.letters;
  const std::vector<uint32_t> tokens =
      test::letter_tokens(letters, "ACGTTGCANGGATCCAATTGCGCATANNACGGTCATTGACCAGTACGATCGGATTACACTTTGCAGGCA");
  const auto truth = reference::hidden_states<double>(model.checkpoint, tokens);
  const double bound =
      (way.dtype == DType::f16 ? 0.5 : 4) * worst_letter(model.checkpoint, truth, cpu.logits(tokens));
  for (const ops::RowClass row_class : kClasses)
    checks.within(worst_letter(model.checkpoint, truth, model.logits(tokens, row_class)), bound,
                  shape + ", " + name(row_class));
}

/// Two alleles that go on from one prefix have the bits of a window read whole.
void forks_do_not_matter(Checks& checks, const Machine& machine, const Way& way, const std::string& shape) {
  const GeneratedCheckpoint files(shape);
  LetterDecoder model(files.dir(), make(machine, way));
  const std::vector<uint32_t> tokens =
      test::letter_tokens(*model.checkpoint.config().layout.letters,
                          "GATTACAGATTACACCGTAGGCTAACGTTNACGTTGCAGGATCCAATTGCGCATAACGGTCATTGACCAGTACG");
  const std::vector<float> whole = model.logits(tokens);
  const size_t vocab = model.checkpoint.config().vocab, shared = 36;
  const std::span<const uint32_t> first = std::span(tokens).first(shared),
                                  rest = std::span(tokens).subspan(shared);
  Sequence parent = model.decoder.kv().make_sequence();
  const Chunk prefix{&parent, first, first.size(), first.size()};
  model.decoder.forward(std::span(&prefix, 1));
  Sequence fork = parent.fork();
  const Chunk both[] = {{&parent, rest, 0, rest.size()}, {&fork, rest, 0, rest.size()}};
  const std::vector<float> got = model.logits(both);
  const auto half = got.begin() + static_cast<ptrdiff_t>(rest.size() * vocab);
  const std::vector<float> want(whole.begin() + static_cast<ptrdiff_t>(shared * vocab), whole.end());
  checks.that(same_bits(std::vector<float>(got.begin(), half), want), "the first");
  checks.that(same_bits(std::vector<float>(half, got.end()), want), "the second");
}

}  // namespace

void check_letters(Checks& checks, const Machine& machine) {
  const std::string untied = tiny_letters("--layers 2 --tied 0 --llama3-original 256 --vocab 8 --head-dim ");
  for (const Way& way : kWays) {
    // In emulation plain sums are slow.
    const bool plain = machine.emulated && way.dtype == DType::f32;
    const std::string shape = untied + (plain ? "20 --layers 1" : "64");
    checks.run("letters: the decoder agrees with the reference [" + way.name() + "]",
               [&] { letters_agree(checks, machine, way, shape); });
    checks.run("letters: bits do not depend on forks [" + way.name() + "]",
               [&] { forks_do_not_matter(checks, machine, way, shape); });
  }
}

}  // namespace carbon::gpu_test
