// The whole forward pass and the heads on random models, in both classes of rows: against the
// double-precision reference, to the bit however sequences are cut, shared and batched, and without leaving
// memory behind.
#include <cuda_runtime.h>

#include <cstdlib>
#include <random>

#include "src/transformer/decoder.hpp"
#include "src/transformer/head.hpp"
#include "test/gpu/check.hpp"
#include "test/reference/llama.hpp"
#include "test/unit/generated_checkpoint.hpp"

namespace carbon::gpu_test {
namespace {

using test::GeneratedCheckpoint;
using test::tiny;

struct Model {
  Model(const Checkpoint& checkpoint, std::unique_ptr<ops::Backend> made)
      : backend(std::move(made)), decoder(*backend, checkpoint), head(*backend, checkpoint) {}
  std::unique_ptr<ops::Backend> backend;
  Decoder decoder;
  Head head;
};

using Tokens = std::vector<uint32_t>;

Tokens random_tokens(const Checkpoint& checkpoint, size_t n, unsigned seed) {
  std::mt19937 random(seed);
  const TokenLayout& layout = checkpoint.config().layout;
  Tokens tokens{layout.dna_begin()};
  while (tokens.size() < n)
    tokens.push_back(random() % 50 == 0 ? layout.oov() : layout.kmer0() + random() % kKmerCount);
  return tokens;
}

constexpr ops::RowClass kPrefill = ops::RowClass::prefill, kDecode = ops::RowClass::decode;

std::vector<double> marginals(Model& model, std::span<const Chunk> chunks,
                              ops::RowClass row_class = kPrefill) {
  const HiddenRows rows = model.decoder.forward(chunks, row_class);
  std::vector<double> out(rows.count * ops::kMarginals);
  model.head.marginals(rows, out.data());
  return out;
}
std::vector<double> marginals(Model& model, Sequence& sequence, std::span<const uint32_t> tokens,
                              ops::RowClass row_class = kPrefill) {
  const Chunk chunk{&sequence, tokens, 0, tokens.size()};
  return marginals(model, std::span(&chunk, 1), row_class);
}
std::vector<double> marginals(Model& model, const Tokens& tokens, ops::RowClass row_class = kPrefill) {
  Sequence sequence = model.decoder.kv().make_sequence();
  return marginals(model, sequence, tokens, row_class);
}

/// Of row `row` alone.
std::vector<double> at(const std::vector<double>& all, size_t row) {
  const auto first = all.begin() + static_cast<ptrdiff_t>(row * ops::kMarginals);
  return {first, first + ops::kMarginals};
}
std::vector<double> tail(const std::vector<double>& all, size_t from_row) {
  return {all.begin() + static_cast<ptrdiff_t>(from_row * ops::kMarginals), all.end()};
}

/// The largest difference from the double-precision reference.
template <class T>
double error_of(const Checkpoint& checkpoint, const reference::Matrix<double>& truth,
                const reference::Matrix<T>& rows) {
  double worst = 0;
  for (size_t t = 0; t < rows.size(); ++t) {
    const auto a = reference::marginals(checkpoint, truth[t]), b = reference::marginals(checkpoint, rows[t]);
    for (size_t i = 0; i < a.size(); ++i) worst = worse(worst, std::fabs(a[i] - b[i]));
  }
  return worst;
}
double error_of(const Checkpoint& checkpoint, const reference::Matrix<double>& truth,
                const std::vector<double>& got) {
  double worst = 0;
  for (size_t t = 0; t < truth.size(); ++t) {
    const auto want = reference::marginals(checkpoint, truth[t]);
    for (size_t i = 0; i < want.size(); ++i)
      worst = worse(worst, std::fabs(want[i] - got[t * ops::kMarginals + i]));
  }
  return worst;
}

/// f32: as close to double as a naive float implementation, times two. bf16: four times the error of the CPU
/// backend, which keeps queries and softmax weights in f32, where tensor cores round them to bf16.
void agrees(Checks& checks, const Machine& machine, const Way& way, const std::string& shape, size_t length) {
  const GeneratedCheckpoint files(shape);
  const Checkpoint checkpoint(files.dir());
  Model model(checkpoint, make(machine, way));
  const Tokens tokens = random_tokens(checkpoint, length, 5);
  const auto truth = reference::hidden_states<double>(checkpoint, tokens);
  double bound;
  if (way.dtype == DType::f32) {
    bound = 2 * error_of(checkpoint, truth, reference::hidden_states<float>(checkpoint, tokens));
  } else {
    Model cpu(checkpoint, ops::make_cpu_backend({DType::bf16, 2, ops::OneDnnUse::never, ""}));
    bound = 4 * error_of(checkpoint, truth, marginals(cpu, tokens));
  }
  checks.within(error_of(checkpoint, truth, marginals(model, tokens)), bound, shape);
  if (way.library || !machine.emulated)  // else it is the same code, and slow
    checks.within(error_of(checkpoint, truth, marginals(model, tokens, kDecode)), bound, shape + ", decode");

  Sequence sequence = model.decoder.kv().make_sequence();
  const Chunk chunk{&sequence, tokens, 0, tokens.size()};
  const HiddenRows rows = model.decoder.forward(std::span(&chunk, 1));
  Tokens targets(tokens.begin() + 1, tokens.end());
  targets.push_back(checkpoint.config().layout.kmer0());
  std::vector<double> token_level(targets.size());
  model.head.token_logprob(rows, targets, token_level.data());
  for (size_t t = 0; t < targets.size(); t += 13)
    checks.within(std::fabs(token_level[t] - reference::token_logprob(checkpoint, truth[t], targets[t])),
                  way.dtype == DType::f32 ? 2e-4 : 0.1, "a token");
}

/// The same sequence in pieces and among others has the bits that it has whole.
void cuts_do_not_matter(Checks& checks, Model& model, const Checkpoint& checkpoint, const Tokens& tokens,
                        const std::vector<double>& whole, const std::vector<size_t>& cuts) {
  for (const size_t cut : cuts) {
    Sequence sequence = model.decoder.kv().make_sequence(), other = model.decoder.kv().make_sequence();
    const Tokens noise = random_tokens(checkpoint, 37, 99);
    const Tokens first(tokens.begin(), tokens.begin() + static_cast<ptrdiff_t>(cut)),
        rest(tokens.begin() + static_cast<ptrdiff_t>(cut), tokens.end());
    const Chunk chunks[] = {{&other, noise, 0, 5}, {&sequence, first, first.size(), first.size()}};
    model.decoder.forward(chunks);
    checks.that(same_bits(tail(whole, cut), marginals(model, sequence, rest)),
                "cut at " + std::to_string(cut));
  }
}

/// A fork goes on from the shared prefix, and its parent is not disturbed.
void forks_do_not_matter(Checks& checks, Model& model, const Checkpoint& checkpoint, const Tokens& tokens,
                         const std::vector<double>& whole, const std::vector<size_t>& shares) {
  for (const size_t shared : shares) {
    Sequence parent = model.decoder.kv().make_sequence();
    const Tokens stranger = random_tokens(checkpoint, 80, 8);
    const Tokens prefix(tokens.begin(), tokens.begin() + static_cast<ptrdiff_t>(shared)),
        rest(tokens.begin() + static_cast<ptrdiff_t>(shared), tokens.end());
    marginals(model, parent, prefix);
    Sequence fork = parent.fork();
    marginals(model, parent, stranger);
    checks.that(same_bits(tail(whole, shared), marginals(model, fork, rest)),
                "fork at " + std::to_string(shared));
    parent.truncate(shared);
    checks.that(same_bits(tail(whole, shared), marginals(model, parent, rest)),
                "parent at " + std::to_string(shared));
  }
}

/// Batches of sequences of different lengths against each of them alone.
void batches_do_not_matter(Checks& checks, Model& model, const Checkpoint& checkpoint, size_t longest,
                           const std::vector<size_t>& batches) {
  std::vector<Tokens> all;
  std::vector<std::vector<double>> alone;
  for (unsigned i = 0; i < 7; ++i) {
    all.push_back(random_tokens(checkpoint, 1 + (i * 29) % longest, i));
    alone.push_back(marginals(model, all.back()));
  }
  for (const size_t batch : batches) {
    std::vector<Sequence> sequences;
    sequences.reserve(batch);
    std::vector<Chunk> chunks;
    std::vector<double> expected;
    for (size_t i = 0; i < batch; ++i) {
      const size_t which = (i * 5) % all.size();
      sequences.push_back(model.decoder.kv().make_sequence());
      chunks.push_back({&sequences.back(), all[which], 0, all[which].size()});
      expected.insert(expected.end(), alone[which].begin(), alone[which].end());
    }
    checks.that(same_bits(marginals(model, chunks), expected), std::to_string(batch) + " sequences");
  }
}

/// How much of the invariance rule is tried.
struct Extent {
  size_t length, longest;
  std::vector<size_t> cuts, shares, batches;
};
/// And of it in the decode class: tokens of the prompt, generated ones, those of the longest neighbour.
struct DecodeExtent {
  size_t prompt, generated, longest;
  std::vector<size_t> batches;
};

/// Tokens behind a prompt, one or several at a time, as `carbon generate` runs them without and with a draft.
void decode_steps_do_not_matter(Checks& checks, Model& model, const Sequence& prompt, const Tokens& tokens,
                                const std::vector<double>& want) {
  for (const size_t step : {size_t{1}, size_t{7}}) {
    Sequence sequence = prompt.fork();
    std::vector<double> got;
    for (size_t i = 0; i < tokens.size(); i += step) {
      const auto some = std::span(tokens).subspan(i, std::min(step, tokens.size() - i));
      const std::vector<double> rows = marginals(model, sequence, some, kDecode);
      got.insert(got.end(), rows.begin(), rows.end());
    }
    checks.that(same_bits(want, got), std::to_string(step) + " tokens a step");
  }
  // Proposals that are refused: what lies behind them goes on as if they had not been.
  Sequence sequence = prompt.fork();
  for (size_t i = 0; i < tokens.size(); ++i) {
    const Tokens proposed{tokens[i], tokens[0], tokens[i], tokens[0]};
    const size_t length = sequence.length();
    checks.that(same_bits(at(want, i), at(marginals(model, sequence, proposed, kDecode), 0)),
                "with proposals behind it");
    sequence.truncate(length + 1);
  }
}

/// A token a step as one of a batch of sequences that stand at other positions.
void decode_batches_do_not_matter(Checks& checks, Model& model, const Checkpoint& checkpoint,
                                  const Sequence& prompt, const Tokens& tokens,
                                  const std::vector<double>& want, const DecodeExtent& extent) {
  const Tokens noise = random_tokens(checkpoint, extent.longest, 17);
  for (const size_t batch : extent.batches)
    for (const size_t place : {batch / 2, batch - 1}) {
      std::vector<Sequence> sequences;
      sequences.reserve(batch);
      std::vector<Chunk> chunks;
      for (size_t i = 0; i < batch; ++i) {
        sequences.push_back(i == place ? prompt.fork() : model.decoder.kv().make_sequence());
        if (i != place)
          chunks.push_back({&sequences.back(), std::span(noise).first(1 + i * 29 % noise.size()), 0, 0});
      }
      model.decoder.forward(chunks);
      for (size_t step = 0; step < std::min<size_t>(2, tokens.size()); ++step) {
        chunks.clear();
        for (size_t i = 0; i < batch; ++i)
          chunks.push_back(
              {&sequences[i], {i == place ? &tokens[step] : &noise[(step + i) % noise.size()], 1}, 0, 1});
        checks.that(same_bits(at(want, step), at(marginals(model, chunks, kDecode), place)),
                    "row " + std::to_string(place) + " of " + std::to_string(batch));
      }
    }
}

void decode_is_invariant(Checks& checks, const Machine& machine, const Way& way, const std::string& shape,
                         const DecodeExtent& extent) {
  const GeneratedCheckpoint files(shape);
  const Checkpoint checkpoint(files.dir());
  Model model(checkpoint, make(machine, way));
  const Tokens all = random_tokens(checkpoint, extent.prompt + extent.generated, 21);
  const auto cut = all.begin() + static_cast<ptrdiff_t>(extent.prompt);
  const Tokens tokens(cut, all.end());
  Sequence prompt = model.decoder.kv().make_sequence();
  marginals(model, prompt, std::span(all).first(extent.prompt));
  Sequence whole = prompt.fork();
  const std::vector<double> want = marginals(model, whole, tokens, kDecode);
  decode_steps_do_not_matter(checks, model, prompt, tokens, want);
  decode_batches_do_not_matter(checks, model, checkpoint, prompt, tokens, want, extent);
}

/// Generation's steps are given to the device as graphs, across the border of a page and of a chunk of keys
/// too, and what single kernels do has the same bits.
void decode_steps_are_replayed(Checks& checks, const Machine& machine) {
  const GeneratedCheckpoint files(tiny("--head-dim 64 --heads 2 --kv-heads 1 --layers 3"));
  const Checkpoint checkpoint(files.dir());
  const auto device = std::make_shared<const cuda::Device>(machine.device);
  Model model(checkpoint, cuda::make_backend(device, {DType::bf16, machine.device, false}));
  constexpr size_t kSteps = 6;
  const Tokens all = random_tokens(checkpoint, 253 + kSteps, 23), tokens(all.begin() + 253, all.end());
  Sequence whole = model.decoder.kv().make_sequence();
  marginals(model, whole, std::span(all).first(253));
  Sequence sequence = whole.fork();
  const std::vector<double> want = marginals(model, whole, tokens, kDecode);
  for (size_t i = 0; i < kSteps; ++i) {
    const size_t before = device->stream().replays();
    checks.that(same_bits(at(want, i), marginals(model, sequence, std::span(tokens).subspan(i, 1), kDecode)),
                "step " + std::to_string(i));
    checks.that((device->stream().replays() > before) == (i > 0), "graphs of step " + std::to_string(i));
  }
}

void is_invariant(Checks& checks, const Machine& machine, const Way& way, const std::string& shape,
                  const Extent& extent) {
  const GeneratedCheckpoint files(shape);
  const Checkpoint checkpoint(files.dir());
  Model model(checkpoint, make(machine, way));
  const Tokens tokens = random_tokens(checkpoint, extent.length, 7);
  const std::vector<double> whole = marginals(model, tokens);
  Model again(checkpoint, make(machine, way));
  checks.that(same_bits(whole, marginals(again, tokens)), "a second backend");
  cuts_do_not_matter(checks, model, checkpoint, tokens, whole, extent.cuts);
  forks_do_not_matter(checks, model, checkpoint, tokens, whole, extent.shares);
  batches_do_not_matter(checks, model, checkpoint, extent.longest, extent.batches);
  checks.that(model.decoder.kv().pages_in_use() == 0, "pages are given back");
}

/// Batches of 1 or 2 sequences of up to 60 tokens, with a fork each: once all kinds have been, no batch
/// leaves anything behind.
void leaves_nothing(Checks& checks, const Machine& machine, size_t batches) {
  const GeneratedCheckpoint files(tiny("--layers 1"));
  const Checkpoint checkpoint(files.dir());
  constexpr size_t kKinds = 4;
  const auto run_batch = [&](Model& model, size_t kind) {
    std::vector<Sequence> sequences;
    std::vector<Chunk> chunks;
    const Tokens tokens = random_tokens(checkpoint, 15 * (kind + 1), 3);
    for (size_t i = 0; i <= kind / 2; ++i) sequences.push_back(model.decoder.kv().make_sequence());
    for (Sequence& sequence : sequences) chunks.push_back({&sequence, tokens, 0, tokens.size()});
    marginals(model, chunks);
    Sequence fork = sequences.front().fork();
    marginals(model, fork, tokens);
  };
  const auto run = [&](size_t count) {
    Model model(checkpoint, make(machine, kWays[1]));
    // The largest first; and often enough that what comes again is a graph.
    for (size_t kind = 3 * kKinds; kind > 0; --kind) run_batch(model, (kind - 1) % kKinds);
    const size_t before = free_memory();
    for (size_t i = 0; i < count; ++i) run_batch(model, i % kKinds);
    checks.that(free_memory() == before, "memory grows over batches");
    checks.that(model.decoder.kv().pages_in_use() == 0, "pages are given back");
  };
  run(0);  // what the runtime keeps for itself
  const size_t before = free_memory();
  run(batches);
  checks.that(free_memory() == before, "a backend leaves memory behind");
}

#ifdef CARBON_CUDA_EMULATION  // where memory is set to the byte
/// From here on so many bytes are free, until CARBON_EMULATED_MEMORY is taken away.
void leave_free(size_t bytes) {
  size_t free = 0, total = 0;
  cudaMemGetInfo(&free, &total);
  setenv("CARBON_EMULATED_MEMORY", std::to_string(total - free + bytes).c_str(), 1);
}

/// When there is memory for more pages but none for the longer list of them, the pages in use are still
/// found, and later new ones are. Only in emulation, where the memory is set to the byte.
void survives_a_failed_reserve(Checks& checks, const Machine& machine) {
  const GeneratedCheckpoint files(tiny("--heads 1 --kv-heads 1 --head-dim 64 --layers 1"));
  const Checkpoint checkpoint(files.dir());
  Model model(checkpoint, make(machine, kWays[1]));
  const Tokens tokens = random_tokens(checkpoint, 50, 3), first(tokens.begin(), tokens.begin() + 20),
               rest(tokens.begin() + 20, tokens.end());
  const std::vector<double> whole = marginals(model, tokens);
  Sequence begun = model.decoder.kv().make_sequence();
  marginals(model, begun, first);

  constexpr size_t kListed = 128;  // pages in the first list
  std::vector<Sequence> others;
  while (model.decoder.kv().pages_in_use() < kListed) {
    others.push_back(model.decoder.kv().make_sequence());
    others.back().reserve(1);
  }
  leave_free(model.decoder.kv().store().page_bytes() + sizeof(void*));
  Sequence more = model.decoder.kv().make_sequence();
  checks.refused([&] { more.reserve(1); }, "the list of KV pages");
  checks.that(same_bits(tail(whole, 20), marginals(model, begun, rest)), "a sequence begun before");
  unsetenv("CARBON_EMULATED_MEMORY");
  checks.that(same_bits(whole, marginals(model, more, tokens)), "a sequence of a new page");
}

/// Keys and values take a part of the memory that is free, a page at least, and what is given back is there
/// again.
void takes_and_gives_pages(Checks& checks, const Machine& machine) {
  const GeneratedCheckpoint files(tiny("--heads 1 --kv-heads 1 --head-dim 64 --layers 1"));
  const Checkpoint checkpoint(files.dir());
  Model model(checkpoint, make(machine, kWays[1]));
  const Tokens tokens = random_tokens(checkpoint, 300, 5);
  const std::vector<double> want = marginals(model, tokens);
  model.decoder.give_back();
  const size_t page = model.decoder.kv().store().page_bytes(), all = 100 * page;
  leave_free(all);
  std::vector<Sequence> kept;
  const auto take = [&] {
    kept.push_back(model.decoder.kv().make_sequence());
    kept.back().reserve(1);
  };
  take();
  checks.that(free_memory() <= all - 12 * page && free_memory() > all - 13 * page, "an eighth");
  checks.refused(
      [&] {
        for (;;) take();
      },
      "out of memory");
  kept.pop_back();  // which got none
  checks.that(kept.size() > 90 && kept.size() <= 100, std::to_string(kept.size()) + " pages were there");
  kept.erase(kept.begin() + 1, kept.end());
  model.decoder.give_back();
  checks.that(free_memory() > all - 13 * page, "pages that nobody uses");
  unsetenv("CARBON_EMULATED_MEMORY");
  checks.that(same_bits(want, marginals(model, tokens)), "a sequence of new pages");
}

/// Hidden rows as they are stored, of two sequences of `length` tokens together, the second asked for in
/// part.
std::vector<float> hidden_rows(Model& model, const Tokens& tokens, size_t length) {
  Sequence one = model.decoder.kv().make_sequence(), two = model.decoder.kv().make_sequence();
  const size_t first = length * 2 / 3;
  const std::span all(tokens);
  const Chunk chunks[] = {{&one, all.first(first), 0, first},
                          {&two, all.first(length - first), length - first - 9, length - first}};
  const HiddenRows rows = model.decoder.forward(chunks);
  std::vector<float> words(rows.count * model.decoder.config().hidden * sizeof(bf16) / sizeof(float));
  model.backend->download(static_cast<const float*>(rows.act), words.size(), words.data());
  return words;
}

/// A pass whose buffers do not fit the memory is divided, to the same bits; one that is not to be divided any
/// further gives the error, and leaves the decoder in order.
void divides_passes(Checks& checks, const Machine& machine, const Way& way) {
  const GeneratedCheckpoint files(tiny("--heads 2 --kv-heads 1 --head-dim 64 --layers 2"));
  const Checkpoint checkpoint(files.dir());
  constexpr size_t kFew = 60, kMany = 700;
  const Tokens tokens = random_tokens(checkpoint, kMany, 4);
  Model enough(checkpoint, make(machine, way)), little(checkpoint, make(machine, way)),
      least(checkpoint, make(machine, way));
  // What does not grow with the rows: pages, the rotary table, the embedding.
  for (Model* model : {&enough, &little, &least}) hidden_rows(*model, tokens, kFew);
  const size_t before = free_memory();
  const std::vector<float> want = hidden_rows(enough, tokens, kMany);
  const size_t needed = before - free_memory();
  leave_free(needed * 6 / 10);
  checks.that(same_bits(want, hidden_rows(little, tokens, kMany)), "a divided pass");
  leave_free(needed / 20);
  checks.refused([&] { hidden_rows(least, tokens, kMany); }, "activations: out of memory");
  unsetenv("CARBON_EMULATED_MEMORY");
  checks.that(same_bits(want, hidden_rows(least, tokens, kMany)), "after an error");
}
#endif

/// Options of make_checkpoint, and tokens to compare: the reference takes about a second for one of a
/// published shape.
struct Shape {
  std::string options;
  size_t length;
};

/// Small models of every head size; on a GPU the published shapes, too, with few layers.
std::vector<Shape> shapes_for(const Machine& machine, const Way& way) {
  const std::string small[] = {
      tiny("--head-dim 64 --heads 4 --kv-heads 1 --tied 0 --dtype f32 --layers 2"),
      tiny("--head-dim 96 --heads 2 --kv-heads 2 --hidden 96 --dtype f16 --shards 2 --layers 2"),
      tiny("--head-dim 128 --heads 8 --kv-heads 1 --hidden 48 --layers 2"),
      tiny("--head-dim 20 --heads 3 --kv-heads 3 --hidden 60 --intermediate 100 --layers 2"),
      tiny("--head-dim 64 --yarn 4 --yarn-original 1024 --layers 2"),
  };
  // In emulation the ways differ in their products alone, which need no second look at every head size.
  if (machine.emulated && way.library) return {{small[2], 70}};
  if (machine.emulated && way.dtype == DType::f32) return {{small[0], 70}, {small[3], 70}};
  std::vector<Shape> shapes;
  for (const std::string& options : small) shapes.push_back({options, machine.emulated ? 70u : 97u});
  if (machine.emulated) return shapes;
  const std::string common = "--vocab 4224 --dna-start 0 --max-positions 8192 --layers 2 --head-dim ";
  shapes.push_back({common + "64 --hidden 1024 --heads 16 --kv-heads 8 --intermediate 3072 --tied 1", 70});
  shapes.push_back({common + "96 --hidden 3072 --heads 32 --kv-heads 4 --intermediate 8448 --tied 1", 40});
  shapes.push_back({common + "128 --hidden 4096 --heads 32 --kv-heads 8 --intermediate 14336 --tied 0", 40});
  return shapes;
}

}  // namespace

void check_decoder(Checks& checks, const Machine& machine) {
  const Extent emulated{131, 20, {1, 64, 130}, {64, 100}, {7}};
  const Extent whole{1366, 300, {1, 2, 63, 64, 65, 130, 683, 1365}, {1, 64, 100, 129, 683}, {7, 64}};
  const DecodeExtent emulated_decode{124, 9, 5, {7, 64}}, whole_decode{683, 130, 300, {7, 64}};
  for (const Way& way : kWays) {
    for (const Shape& shape : shapes_for(machine, way))
      checks.run("decoder agrees with the reference: " +
                     shape.options.substr(shape.options.rfind("--head-dim")) + " [" + way.name() + "]",
                 [&] { agrees(checks, machine, way, shape.options, shape.length); });
    const bool plain = machine.emulated && way.dtype == DType::f32;
    const std::string model = tiny(plain ? "--head-dim 20 --heads 2 --kv-heads 1 --layers 1"
                                         : "--head-dim 64 --heads 2 --kv-heads 1 --layers 2");
    // In emulation each class is looked at where it has kernels of its own.
    if (!machine.emulated || way.library)
      checks.run("decoder: generated rows do not depend on steps, proposals or batches [" + way.name() + "]",
                 [&] {
                   decode_is_invariant(checks, machine, way, model,
                                       machine.emulated ? emulated_decode : whole_decode);
                 });
    if (!machine.emulated || !way.library)
      checks.run("decoder: bits do not depend on cuts, forks or batches [" + way.name() + "]",
                 [&] { is_invariant(checks, machine, way, model, machine.emulated ? emulated : whole); });
  }
  checks.run("decoder: generation is replayed as graphs",
             [&] { decode_steps_are_replayed(checks, machine); });
#ifdef CARBON_CUDA_EMULATION
  checks.run("pages outlive a failed allocation", [&] { survives_a_failed_reserve(checks, machine); });
  checks.run("pages are taken by and by, and given back", [&] { takes_and_gives_pages(checks, machine); });
  for (const Way& way : {kWays[1], kWays[2]})
    checks.run("a pass that does not fit is divided [" + way.name() + "]",
               [&] { divides_passes(checks, machine, way); });
#endif
  checks.run("nothing is left behind",
             [&] { leaves_nothing(checks, machine, machine.emulated ? 4 : 10000); });
}

}  // namespace carbon::gpu_test
