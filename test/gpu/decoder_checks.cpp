// The whole forward pass and the heads on random models, in both classes of rows: against the
// double-precision reference, and to the bit however sequences are cut, shared and batched.
#include <array>
#include <optional>

#include "kernels/cuda/stream.hpp"
#include "test/gpu/model.hpp"
#include "test/reference/llama.hpp"

namespace carbon::gpu_test {
namespace {

/// Of row `row` alone.
std::vector<double> at(const std::vector<double>& all, size_t row) {
  const auto first = all.begin() + static_cast<ptrdiff_t>(row * ops::kMarginals);
  return {first, first + ops::kMarginals};
}

/// A random model, and marginals of some tokens of it by the double-precision reference. The reference is
/// slow, so it runs once and all ways are compared with it.
struct Truth {
  Truth(const std::string& shape, size_t length)
      : files(shape),
        checkpoint(files.dir()),
        tokens(random_tokens(checkpoint, length, 5)),
        states(reference::hidden_states<double>(checkpoint, tokens)),
        marginals(marginals_of(states)) {}

  template <class T>
  std::vector<double> marginals_of(const reference::Matrix<T>& rows) const {
    std::vector<double> all;
    for (const auto& row : rows) {
      const std::vector<double> some = reference::marginals(checkpoint, row);
      all.insert(all.end(), some.begin(), some.end());
    }
    return all;
  }
  /// The largest difference.
  double error_of(const std::vector<double>& got) const {
    double worst = 0;
    for (size_t i = 0; i < marginals.size(); ++i) worst = worse(worst, std::fabs(marginals[i] - got[i]));
    return worst;
  }

  const GeneratedCheckpoint files;
  const Checkpoint checkpoint;
  const Tokens tokens;
  const reference::Matrix<double> states;
  const std::vector<double> marginals;
};

/// f32: as close to double as a naive float implementation, times two. bf16: four times the error of the CPU
/// backend, which keeps queries and softmax weights in f32, where tensor cores round them to bf16. f16: half
/// of that of the CPU in bf16, which is an eighth of four times that.
void agrees(Checks& checks, const Machine& machine, const Way& way, const Truth& truth,
            const std::string& shape) {
  const Checkpoint& checkpoint = truth.checkpoint;
  const Tokens& tokens = truth.tokens;
  Model model(checkpoint, make(machine, way));
  double bound;
  if (way.dtype == DType::f32) {
    bound = 2 * truth.error_of(truth.marginals_of(reference::hidden_states<float>(checkpoint, tokens)));
  } else {
    Model cpu(checkpoint, ops::make_cpu_backend({DType::bf16, 2}));
    bound = (way.dtype == DType::f16 ? 0.5 : 4) * truth.error_of(marginals(cpu, tokens));
  }
  checks.within(truth.error_of(marginals(model, tokens)), bound, shape);
  if (way.library || way.dtype == DType::f16 || !machine.emulated)  // else it is the same code, and slow
    checks.within(truth.error_of(marginals(model, tokens, kDecode)), bound, shape + ", decode");

  Sequence sequence = model.decoder.kv().make_sequence();
  const Chunk chunk{&sequence, tokens, 0, tokens.size()};
  const HiddenRows rows = model.decoder.forward(std::span(&chunk, 1));
  Tokens targets(tokens.begin() + 1, tokens.end());
  targets.push_back(checkpoint.config().layout.kmer0());
  std::vector<double> token_level(targets.size());
  model.head.token_logprob(rows, targets, token_level.data());
  for (size_t t = 0; t < targets.size(); t += 13)
    checks.within(
        std::fabs(token_level[t] - reference::token_logprob(checkpoint, truth.states[t], targets[t])),
        way.dtype == DType::f32   ? 2e-4
        : way.dtype == DType::f16 ? 0.0125
                                  : 0.1,
        "a token");
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
      marginals(model, chunks);
      for (size_t step = 0; step < std::min<size_t>(2, tokens.size()); ++step) {
        chunks.clear();
        for (size_t i = 0; i < batch; ++i)
          chunks.push_back({&sequences[i],
                            {i == place ? &tokens[step] : &noise[(step + i) % noise.size()], 1},
                            0,
                            1,
                            kDecode});
        checks.that(same_bits(at(want, step), at(marginals(model, chunks), place)),
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

/// The residual stream of the wanted rows of one pass through the first block.
std::vector<float> first_block(Model& model, std::span<const Chunk> chunks) {
  const HiddenRows rows = model.decoder.forward(chunks, 1);
  std::vector<float> out(rows.count * model.decoder.config().hidden);
  model.decoder.download_residual(rows, out.data());
  return out;
}

/// A pass of both classes, as the scheduler makes it from windows and samples: every row has the bits that it
/// has in a pass of its chunk alone, whichever rows are wanted.
void classes_share_a_pass(Checks& checks, const Machine& machine, const Way& way, const std::string& shape) {
  const GeneratedCheckpoint files(shape);
  const Checkpoint checkpoint(files.dir());
  Model model(checkpoint, make(machine, way));
  const Tokens tokens = random_tokens(checkpoint, 92, 31);
  constexpr size_t kPrompt = 70;
  Sequence prompt = model.decoder.kv().make_sequence();
  marginals(model, prompt, std::span(tokens).first(kPrompt));

  struct Part {
    size_t first, count, want_begin;  // of `tokens`; behind the prompt if first is not 0
    ops::RowClass row_class;
  };
  const Part windows[] = {{0, 66, 0, kPrefill}, {kPrompt, 20, 17, kPrefill}, {0, 5, 5, kPrefill}};
  const Part samples[] = {{kPrompt, 1, 0, kDecode}, {kPrompt, 4, 0, kDecode}, {kPrompt, 3, 2, kDecode}};
  std::vector<Part> in_turns, windows_first(std::begin(windows), std::end(windows));
  windows_first.insert(windows_first.end(), std::begin(samples), std::end(samples));
  for (size_t i = 0; i < std::size(windows); ++i) in_turns.insert(in_turns.end(), {samples[i], windows[i]});
  std::vector<Part> all_wanted = windows_first;
  for (Part& part : all_wanted) part.want_begin = 0;
  const auto run = [&](std::span<const Part> parts, const auto& pass) {
    std::vector<Sequence> sequences;
    sequences.reserve(parts.size());
    std::vector<Chunk> chunks;
    for (const Part& part : parts) {
      sequences.push_back(part.first == 0 ? model.decoder.kv().make_sequence() : prompt.fork());
      chunks.push_back({&sequences.back(), std::span(tokens).subspan(part.first, part.count), part.want_begin,
                        part.count, part.row_class});
    }
    return pass(model, chunks);
  };
  const auto compare = [&](std::span<const Part> parts, const std::string& what, const auto& pass) {
    decltype(run(parts, pass)) alone;
    for (const Part& part : parts) {
      const auto rows = run(std::span(&part, 1), pass);
      alone.insert(alone.end(), rows.begin(), rows.end());
    }
    checks.that(same_bits(alone, run(parts, pass)), what);
  };
  compare(windows_first, "windows first", pass_marginals);
  compare(in_turns, "windows and samples in turns", pass_marginals);
  compare(all_wanted, "all rows are wanted", pass_marginals);
  compare(windows_first, "the residual stream of the first block", first_block);
  checks.that(model.decoder.kv().pages_in_use() == 2, "pages are given back");
}

/// Options of make_checkpoint, tokens to compare, and the ways that are compared.
struct Shape {
  std::string options;
  size_t length;
  std::vector<Way> ways = {std::begin(kWays), std::end(kWays)};
};

/// Small models of every head size; on a GPU the published shapes, too, with few layers.
std::vector<Shape> shapes_for(const Machine& machine) {
  const size_t length = machine.emulated ? 70 : 97;
  std::vector<Shape> shapes{
      {tiny("--head-dim 64 --heads 4 --kv-heads 1 --tied 0 --dtype f32 --layers 2"), length},
      {tiny("--head-dim 96 --heads 2 --kv-heads 2 --hidden 96 --dtype f16 --shards 2 --layers 2"), length},
      {tiny("--head-dim 128 --heads 8 --kv-heads 1 --hidden 48 --layers 2"), length},
      {tiny("--head-dim 20 --heads 3 --kv-heads 3 --hidden 60 --intermediate 100 --layers 2"), length},
      {tiny("--head-dim 64 --yarn 4 --yarn-original 1024 --layers 2"), length},
  };
  if (machine.emulated) {
    // The ways differ in their products alone, which need no second look at every head size.
    const auto [f32, own, library, f16] = std::to_array(kWays);
    shapes[0].ways = shapes[3].ways = {f32, own, f16};
    shapes[2].ways = {own, library, f16};
    shapes[1].ways = {own, f16};
    shapes[4].ways = {own};
    return shapes;
  }
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
  for (const Shape& shape : shapes_for(machine)) {
    std::optional<Truth> truth;
    for (const Way& way : shape.ways)
      checks.run("decoder agrees with the reference: " +
                     shape.options.substr(shape.options.rfind("--head-dim")) + " [" + way.name() + "]",
                 [&] {
                   if (!truth) truth.emplace(shape.options, shape.length);
                   agrees(checks, machine, way, *truth, shape.options);
                 });
  }
  for (const Way& way : kWays) {
    const bool plain = machine.emulated && way.dtype == DType::f32;
    const std::string model = tiny(plain ? "--head-dim 20 --heads 2 --kv-heads 1 --layers 1"
                                         : "--head-dim 64 --heads 2 --kv-heads 1 --layers 2");
    // In emulation each class is looked at where it has kernels of its own.
    if (!machine.emulated || way.library || way.dtype == DType::f16)
      checks.run("decoder: generated rows do not depend on steps, proposals or batches [" + way.name() + "]",
                 [&] {
                   decode_is_invariant(checks, machine, way, model,
                                       machine.emulated ? emulated_decode : whole_decode);
                 });
    checks.run("decoder: both classes in a pass [" + way.name() + "]",
               [&] { classes_share_a_pass(checks, machine, way, model); });
    if (!machine.emulated || !way.library)
      checks.run("decoder: bits do not depend on cuts, forks or batches [" + way.name() + "]",
                 [&] { is_invariant(checks, machine, way, model, machine.emulated ? emulated : whole); });
  }
  check_f16_models(checks, machine);
  if (cuda::read_switches().graphs)
    checks.run("decoder: generation is replayed as graphs",
               [&] { decode_steps_are_replayed(checks, machine); });
}

}  // namespace carbon::gpu_test
