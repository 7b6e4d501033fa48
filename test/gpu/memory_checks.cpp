// Memory of a model on the device: nothing is left behind, and where memory runs out, what has been computed
// stays, and the engine makes do with what there is.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdlib>

#include "kernels/cuda/device.hpp"
#include "src/engine/engine.hpp"
#include "test/gpu/model.hpp"

namespace carbon::gpu_test {
namespace {

/// True if what runs leaves no less memory free than it found. The driver and other programs take memory too,
/// but not every time. A leak takes it every time.
bool leaves_memory_free(const std::function<void()>& run) {
  constexpr int kAttempts = 3;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const size_t before = free_memory();
    run();
    if (free_memory() >= before) return true;
  }
  return false;
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
    const auto run_batches = [&] {
      for (size_t i = 0; i < count; ++i) run_batch(model, i % kKinds);
    };
    checks.that(leaves_memory_free(run_batches), "memory grows over batches");
    checks.that(model.decoder.kv().pages_in_use() == 0, "pages are given back");
  };
  run(0);  // what the runtime keeps for itself
  checks.that(leaves_memory_free([&] { run(batches); }), "a backend leaves memory behind");
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
  model.decoder.free_unused_memory();
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
  model.decoder.free_unused_memory();
  checks.that(free_memory() > all - 13 * page, "pages that nobody uses");
  unsetenv("CARBON_EMULATED_MEMORY");
  checks.that(same_bits(want, marginals(model, tokens)), "a sequence of new pages");
}

/// A pass that does not fit the memory fails. The sequence stays as long as it was, the memory of the pass is
/// free, and with enough of it the same pass has the bits that it would have had.
void survives_a_failed_pass(Checks& checks, const Machine& machine, const Way& way) {
  const GeneratedCheckpoint files(tiny("--heads 2 --kv-heads 1 --head-dim 64 --layers 2"));
  const Checkpoint checkpoint(files.dir());
  const Tokens tokens = random_tokens(checkpoint, 500, 4);
  const std::span<const uint32_t> first = std::span(tokens).first(60), rest = std::span(tokens).subspan(60);
  Model enough(checkpoint, make(machine, way)), little(checkpoint, make(machine, way));
  const auto begin = [&](Model& model) {  // with all pages that the sequence will need
    Sequence sequence = model.decoder.kv().make_sequence();
    sequence.reserve(tokens.size());
    marginals(model, sequence, first);
    return sequence;
  };
  const auto forward = [&](Model& model, Sequence& sequence) {
    const Chunk chunk{&sequence, rest, 0, rest.size()};
    return model.decoder.forward(std::span(&chunk, 1));
  };
  const auto bits = [&](Model& model, const HiddenRows& rows) {
    std::vector<float> out(rows.count * model.decoder.config().hidden);
    model.decoder.download_residual(rows, out.data());
    return out;
  };
  Sequence whole = begin(enough), begun = begin(little);
  size_t before = free_memory();
  const HiddenRows rows = forward(enough, whole);
  const size_t needed = before - free_memory();
  for (const size_t twentieths : {1, 6, 12, 18}) {
    leave_free(needed * twentieths / 20);
    before = free_memory();
    checks.refused([&] { forward(little, begun); }, "out of memory");
    checks.that(begun.length() == first.size(), "the length after an error");
    checks.that(free_memory() >= before, "an error leaves memory behind");
    unsetenv("CARBON_EMULATED_MEMORY");
  }
  checks.that(same_bits(bits(enough, rows), bits(little, forward(little, begun))), "after errors");
}

/// Windows with forks, hidden states of a layer, and samples.
std::vector<RequestPtr> mixed_requests(const Checkpoint& checkpoint) {
  std::vector<RequestPtr> requests;
  const auto add = [&](Tokens tokens, HeadKind head, size_t want_begin) {
    const RequestPtr& request = requests.emplace_back(std::make_shared<Request>());
    request->tokens = std::move(tokens);
    request->head = head;
    request->want_begin = want_begin;
    return request;
  };
  const auto bases = std::make_shared<NewBases>();
  bases->length = 5 * ops::kBases;
  for (unsigned i = 0; i < 3; ++i) {
    const RequestPtr window = add(random_tokens(checkpoint, 230 + i, i), HeadKind::marginals, 200);
    window->forks = 1;
    const RequestPtr alternative = add(random_tokens(checkpoint, 25, 10 + i), HeadKind::marginals, 0);
    alternative->parent = window;
    alternative->shared = 205;
    add(random_tokens(checkpoint, 40 + i, 20 + i), HeadKind::mean_hidden, 0)->layer = 1;
    add(random_tokens(checkpoint, 90 + i, 40 + i), HeadKind::mean_hidden, 3)->targets = {1, 2, 60};
    add(random_tokens(checkpoint, 20, 50 + i), HeadKind::hidden, 18);
    add(random_tokens(checkpoint, 70, 30 + i), HeadKind::none, 0)->generation = {bases, {}, i, 0, nullptr};
  }
  return requests;
}

/// The engine gives the same results with little memory, in shorter passes. With less than anything can be
/// run with it fails, and goes on once there is more.
void engine_makes_do(Checks& checks, const Machine& machine) {
  const GeneratedCheckpoint files(tiny("--heads 2 --kv-heads 1 --head-dim 64 --layers 2"));
  const auto checkpoint = std::make_shared<const Checkpoint>(files.dir());
  constexpr size_t kBatchTokens = 1024;
  const auto load = [&] { return LoadedModel(checkpoint, make(machine, kWays[2]), kBatchTokens, 2); };
  const auto passes = [](const Engine& engine) {
    return engine.counts().window_passes + engine.counts().sample_passes;
  };
  const auto run = [&](Engine& engine) {
    const std::vector<RequestPtr> requests = mixed_requests(*checkpoint);
    run_requests(engine, requests);
    return requests;
  };
  const auto compare = [&](const std::vector<RequestPtr>& a, const std::vector<RequestPtr>& b,
                           const std::string& what) {
    for (size_t i = 0; i < a.size(); ++i) {
      const std::vector<double> want(a[i]->values().begin(), a[i]->values().end()),
          got(b[i]->values().begin(), b[i]->values().end());
      checks.that(b[i]->outcome == Outcome::done && same_bits(want, got) &&
                      same_bits(a[i]->states, b[i]->states) && a[i]->kmers == b[i]->kmers &&
                      a[i]->logp == b[i]->logp,
                  "request " + std::to_string(i) + ", " + what);
    }
  };
  LoadedModel enough = load();
  Engine with_enough({&enough});
  const size_t before = free_memory();
  const std::vector<RequestPtr> want = run(with_enough);
  const size_t needed = before - free_memory();
  for (const size_t tenths : {7, 4}) {
    LoadedModel little = load();
    Engine with_little({&little});
    leave_free(needed * tenths / 10);
    compare(want, run(with_little), std::to_string(tenths) + " tenths of the memory");
    unsetenv("CARBON_EMULATED_MEMORY");
    checks.that(passes(with_little) > passes(with_enough), "passes are shorter");
    checks.that(little.decoder().kv().pages_in_use() == 0, "pages are given back");
  }
  LoadedModel least = load();
  Engine with_least({&least});
  leave_free(needed / 40);
  checks.refused([&] { run(with_least); }, "out of memory");
  unsetenv("CARBON_EMULATED_MEMORY");
  Engine again({&least});
  compare(want, run(again), "after an error");
}

/// A model whose keys and values are large beside its activations, and samples of a prompt of 60 tokens that
/// need 2 pages each: one for a copy of the page that they share, and one more after four 6-mers. With
/// batches of kSmallBatch tokens, 7 of them run at a time where the room does not follow the memory.
constexpr size_t kSmallBatch = 128, kSamples = 24, kPagesEach = 2;
GeneratedCheckpoint large_pages() {
  return GeneratedCheckpoint(
      tiny("--heads 8 --kv-heads 8 --head-dim 64 --layers 1 --hidden 32 --intermediate 16"));
}
std::vector<RequestPtr> samples(const Checkpoint& checkpoint) {
  const auto prompt = std::make_shared<Request>();
  prompt->tokens = random_tokens(checkpoint, 60, 1);
  prompt->head = HeadKind::kmer_logits;
  prompt->want_begin = prompt->tokens.size() - 1;
  prompt->forks = kSamples;
  const auto bases = std::make_shared<NewBases>();
  bases->length = 10 * ops::kBases;
  std::vector<RequestPtr> requests{prompt};
  for (unsigned i = 0; i < kSamples; ++i) {
    const RequestPtr& request = requests.emplace_back(std::make_shared<Request>());
    request->parent = prompt;
    request->shared = prompt->tokens.size();
    request->generation = {bases, {}, 0, i, nullptr};
  }
  return requests;
}

/// Runs samples, and calls `each` after every pass.
std::vector<RequestPtr> run_samples(Scheduler& scheduler, const Checkpoint& checkpoint,
                                    const std::function<void()>& each) {
  const std::vector<RequestPtr> requests = samples(checkpoint);
  for (const RequestPtr& request : requests) scheduler.add(request);
  while (scheduler.step()) each();
  return requests;
}

/// The keys and values of a scheduler have 85 % of the memory that is left when a pass has its buffers, and
/// no less room than on a CPU.
void room_follows_memory(Checks& checks, const Machine& machine) {
  const GeneratedCheckpoint files = large_pages();
  const auto checkpoint = std::make_shared<const Checkpoint>(files.dir());
  std::vector<RequestPtr> want;
  for (const size_t pages : {1000, 50, 10})
    for (const bool drafts : {false, true}) {
      LoadedModel model(checkpoint, make(machine, kWays[2]), kSmallBatch, 2);
      LoadedModel draft(checkpoint, make(machine, kWays[2]), kSmallBatch, 2);
      Drafter drafter(draft, 2);
      Scheduler scheduler(model, drafts ? &drafter : nullptr);
      const size_t page = model.decoder().kv().store().page_bytes();
      leave_free(model.decoder().bytes_lacking(kSmallBatch) + pages * page + (size_t{1} << 20));
      size_t most = 0, limit = 0;
      const std::vector<RequestPtr> got = run_samples(scheduler, *checkpoint, [&] {
        if (limit == 0) {  // after the first pass
          const Decoder *const first = &model.decoder(), *const second = &draft.decoder();
          const size_t lacking = first->bytes_lacking(scheduler.pass_limit()) +
                                 (drafts ? second->bytes_lacking(kSmallBatch) : 0);
          const size_t free = free_memory() + model.decoder().kv().pages() * page;
          limit =
              static_cast<size_t>(0.85 * static_cast<double>(free - lacking)) / (drafts ? 2 * page : page);
          limit = std::max(limit, 8 * kSmallBatch / ops::kPageTokens);
          checks.that(scheduler.state().page_limit == limit,
                      std::to_string(scheduler.state().page_limit) + " pages, not " + std::to_string(limit));
        }
        most = std::max(most, scheduler.state().running);
      });
      unsetenv("CARBON_EMULATED_MEMORY");
      if (want.empty()) want = got;
      for (size_t i = 0; i < want.size(); ++i)
        checks.that(got[i]->kmers == want[i]->kmers && got[i]->logp == want[i]->logp,
                    "sample " + std::to_string(i) + " with " + std::to_string(pages) + " pages");
      checks.that(pages != 1000 || most == kSamples, std::to_string(most) + " samples run at a time");
      checks.that(pages == 10 || (most >= std::min(kSamples, (limit - 1) / kPagesEach) &&
                                  model.batch_tokens() == kSmallBatch),
                  "samples fill the room: " + std::to_string(most) + " in " + std::to_string(limit));
    }
}

/// What another program takes from the room later, or what cannot be had although it seems free, makes fewer
/// samples run at a time. They have the same bits, and passes stay as long as they were.
void room_that_is_lost(Checks& checks, const Machine& machine) {
  const GeneratedCheckpoint files = large_pages();
  const auto checkpoint = std::make_shared<const Checkpoint>(files.dir());
  const auto load = [&] { return LoadedModel(checkpoint, make(machine, kWays[2]), kSmallBatch, 2); };
  LoadedModel enough = load();
  Scheduler with_enough(enough);
  const std::vector<RequestPtr> want = run_samples(with_enough, *checkpoint, [] {});
  for (const char* how : {"taken", "denied"}) {
    const bool taken = how == std::string("taken");
    LoadedModel model = load();
    Scheduler scheduler(model);
    const size_t page = model.decoder().kv().store().page_bytes();
    leave_free(model.decoder().bytes_lacking(kSmallBatch) + 100 * page);
    size_t passes = 0, first_limit = 0, before = 0;
    const std::vector<RequestPtr> got = run_samples(scheduler, *checkpoint, [&] {
      if (++passes == 1) first_limit = scheduler.state().page_limit;
      if (passes != 3) return;
      before = scheduler.state().running;
      if (taken)
        leave_free(0);
      else
        setenv("CARBON_EMULATED_DENIED", std::to_string(free_memory()).c_str(), 1);
    });
    unsetenv("CARBON_EMULATED_MEMORY");
    unsetenv("CARBON_EMULATED_DENIED");
    const SchedulerState state = scheduler.state();
    checks.that(before == kSamples, std::string(how) + ": all samples run, " + std::to_string(before));
    checks.that(state.page_limit < first_limit && state.page_limit > 8 * kSmallBatch / ops::kPageTokens,
                std::string(how) + ": the room is smaller, " + std::to_string(state.page_limit));
    checks.that(scheduler.pass_limit() == kSmallBatch && model.batch_tokens() == kSmallBatch,
                std::string(how) + ": passes are as long");
    for (size_t i = 0; i < want.size(); ++i)
      checks.that(got[i]->outcome == Outcome::done && got[i]->kmers == want[i]->kmers &&
                      got[i]->logp == want[i]->logp,
                  std::string(how) + ": sample " + std::to_string(i));
  }
}

/// Memory that grows a little at a time seldom moves: it doubles, and only if there is no memory for that it
/// has the size asked for.
void buffers_grow_in_steps(Checks& checks, const Machine& machine) {
  const auto device = std::make_shared<const cuda::Device>(machine.device);
  const auto backend = cuda::make_backend(device, {DType::bf16, machine.device, false});
  constexpr size_t kBytes = 1000, kMost = 3 * kBytes;
  const auto grows = [&](const std::string& what, auto make, auto ensure) {
    {
      auto buffer = make();
      void* const first = ensure(buffer, kBytes);
      checks.that(ensure(buffer, kBytes - 1) == first, what + ": less");
      void* const second = ensure(buffer, kBytes + 1);
      checks.that(ensure(buffer, 2 * kBytes) == second, what + ": up to twice the size");
      ensure(buffer, 2 * kBytes + 1);
      checks.that(ensure(buffer, kMost) != nullptr, what + ": the most");
    }
    auto buffer = make();
    ensure(buffer, kBytes);
    leave_free(kBytes / 2);
    checks.that(ensure(buffer, kBytes + 1) != nullptr, what + ": no memory for twice the size");
    checks.refused([&] { ensure(buffer, 2 * kBytes); }, "out of memory");
    unsetenv("CARBON_EMULATED_MEMORY");
  };
  grows(
      "scratch", [&] { return cuda::Scratch(device, "a test"); },
      [](cuda::Scratch& buffer, size_t bytes) { return buffer.ensure(bytes); });
  grows(
      "a buffer of a pass", [&] { return DeviceBuffer(*backend); },
      [](DeviceBuffer& buffer, size_t bytes) { return buffer.ensure(bytes, kMost); });
  DeviceBuffer buffer(*backend);
  buffer.ensure(2 * kBytes, kMost);
  buffer.ensure(2 * kBytes + 1, kMost);
  checks.that(buffer.bytes() == kMost, "a buffer of a pass: not more than the longest pass needs");
}
#endif

}  // namespace

void check_memory(Checks& checks, const Machine& machine) {
#ifdef CARBON_CUDA_EMULATION
  checks.run("pages outlive a failed allocation", [&] { survives_a_failed_reserve(checks, machine); });
  checks.run("pages are taken by and by, and given back", [&] { takes_and_gives_pages(checks, machine); });
  for (const Way& way : {kWays[1], kWays[2]})
    checks.run("a pass that does not fit changes nothing [" + way.name() + "]",
               [&] { survives_a_failed_pass(checks, machine, way); });
  checks.run("the engine makes do with little memory", [&] { engine_makes_do(checks, machine); });
  checks.run("keys and values have the free memory", [&] { room_follows_memory(checks, machine); });
  checks.run("free memory that is lost later", [&] { room_that_is_lost(checks, machine); });
  checks.run("buffers grow in steps", [&] { buffers_grow_in_steps(checks, machine); });
#endif
  checks.run("nothing is left behind",
             [&] { leaves_nothing(checks, machine, machine.emulated ? 4 : 10000); });
}

}  // namespace carbon::gpu_test
