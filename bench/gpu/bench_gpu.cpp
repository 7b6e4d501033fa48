// bench_gpu: the CUDA backend's speed beside what the same device did in the same run.
//
//   bench_gpu [--model 500M|3B|8B|tiny]... [--device N] [--commit NAME]
//   bench_gpu --marginals CHECKPOINT --output FOLDER [--device N]      for parity.py (marginals.hpp)
//   bench_gpu --host MULTIPROCESSORS [--model NAME]...                 emulated alone
//
// Random weights of the published shapes, whole models, bf16, with products by the library and by the
// backend's own kernels. Prefill is what `carbon score` does with windows of 8,192 bp, by the library; a
// decode step gives every sequence of a batch, 1,024 tokens long, one more token and draws the next, as
// `carbon generate` does by the own kernels. The other two rows are what each would be otherwise: prefill
// where no library product passes its test, and decode in the prefill class (ops::RowClass). The limit is
// the time that the operations take at the measured matrix rate or the bytes at the measured copy bandwidth,
// whichever is longer (work.hpp). vep is the centered recipe on both strands with one alternative allele a
// site; its limit counts what two alleles share once. Both take as many windows as --batch-tokens by default.
// With --host the emulated GPU runs no kernel: what is left is the time that the host takes for itself, while
// a GPU would have nothing to do.
// Prints Markdown. Exit status 1 on an error, 77 without a GPU.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "bench/gpu/limits.hpp"
#include "bench/gpu/marginals.hpp"
#include "bench/gpu/timing.hpp"
#include "bench/gpu/work.hpp"
#include "kernels/cuda/cuda_backend.hpp"
#include "src/base/cpus.hpp"
#include "src/bench/work.hpp"
#include "src/engine/kmer_draws.hpp"
#include "src/engine/scorer.hpp"
#include "test/unit/generated_checkpoint.hpp"

namespace carbon::gpu_bench {
namespace {

struct Sizes {
  size_t window, context, large_batch;  // in tokens, and sequences
  size_t batch_tokens;                  // 0: as many as is usual for the device
  Effort effort;
};
constexpr Sizes kPublished{1366, 1024, 64, 0, {1.0, 5, size_t{1} << 30, 8192}};
#ifdef CARBON_CUDA_EMULATION
constexpr bool kEmulated = true;
constexpr Sizes kSizes{20, 64, 3, 80, {0, 1, size_t{1} << 20, 64}};
#else
constexpr bool kEmulated = false;
constexpr Sizes kSizes = kPublished;
#endif

struct Shape {
  const char* name;
  const char* options;  // of make_checkpoint
};
constexpr Shape kShapes[] = {
    {"500M", "--layers 28 --hidden 1024 --heads 16 --kv-heads 8 --head-dim 64 --intermediate 3072 --tied 1"},
    {"3B", "--layers 30 --hidden 3072 --heads 32 --kv-heads 4 --head-dim 96 --intermediate 8448 --tied 1"},
    {"8B", "--layers 32 --hidden 4096 --heads 32 --kv-heads 8 --head-dim 128 --intermediate 14336 --tied 0"},
    // For trying the program.
    {"tiny", "--layers 1 --hidden 64 --heads 2 --kv-heads 1 --head-dim 64 --intermediate 64 --tied 1"},
};

struct Settings {
  std::vector<Shape> shapes;
  int device = 0;
  std::string commit = "unknown";
  std::string checkpoint, output;  // of --marginals
  std::string host;                // multiprocessors
  Sizes sizes = kSizes;
};

struct Limits {
  double bandwidth, rate;
  double seconds(const Work& work) const { return std::max(work.operations / rate, work.bytes / bandwidth); }
  const char* what(const Work& work) const {
    return work.operations / rate > work.bytes / bandwidth ? "matrix rate" : "bandwidth";
  }
};

class Model {
 public:
  Model(const std::shared_ptr<const Checkpoint>& checkpoint, const ops::CudaOptions& options,
        const Sizes& sizes)
      : sizes_(sizes),
        engine_(checkpoint, cuda::make_backend(options), sizes.batch_tokens, available_cpus()) {}

  const ModelConfig& config() const { return decoder_.config(); }
  const Sizes& sizes() const { return sizes_; }
  /// Windows that a batch takes.
  size_t windows() const { return std::max<size_t>(1, engine_.batch_tokens() / sizes_.window); }

  /// Seconds of a forward of `sequences` sequences by `tokens` tokens behind `before` that are in the cache.
  double forward_seconds(size_t sequences, size_t before, size_t tokens, ops::RowClass row_class) {
    const std::vector<uint32_t> past = make_tokens(before), next = make_tokens(tokens);
    std::vector<Sequence> all;
    for (size_t i = 0; i < sequences; ++i) {
      all.push_back(decoder_.kv().make_sequence());
      if (before == 0) continue;
      const Chunk chunk{&all.back(), past, before, before};  // no row is wanted
      decoder_.forward(std::span(&chunk, 1));
    }
    std::vector<Chunk> chunks;
    chunks.reserve(sequences);
    for (Sequence& sequence : all) chunks.push_back({&sequence, next, 0, tokens});
    if (before > 0) return draw_seconds(chunks, before, row_class);
    std::vector<double> marginals(sequences * tokens * ops::kMarginals);
    return median_seconds(sizes_.effort.seconds, sizes_.effort.repeats, [&] {
      head_.marginals(decoder_.forward(chunks, row_class), marginals.data());
      for (Sequence& sequence : all) sequence.truncate(before);
    });
  }

  /// What `carbon vep` runs for sites in the middle of their windows, with one alternative allele each.
  std::vector<ScoreJob> vep_jobs(size_t sites) const {
    std::vector<ScoreJob> jobs;
    for (size_t i = 0; i < 2 * sites; ++i) {  // a job a strand
      ScoreJob& job = jobs.emplace_back();
      job.tokens = make_tokens(sizes_.window, i);
      const size_t variant = sizes_.window / 2;  // the first token that differs; the row before it is shared
      job.want_begin = variant - 1;
      job.suffixes = {{variant, {job.tokens.begin() + static_cast<ptrdiff_t>(variant), job.tokens.end()}}};
      job.suffixes[0].tokens[0] = job.tokens[variant - 1];
    }
    return jobs;
  }
  Work vep_work(std::span<const ScoreJob> jobs) const {
    const carbon::Work work = jobs_work(config(), {}, jobs);
    return {work.flops, work.bytes};
  }
  double vep_seconds(std::span<ScoreJob> jobs) {
    std::vector<ScoreJob*> pointers;
    for (ScoreJob& job : jobs) pointers.push_back(&job);
    return median_seconds(sizes_.effort.seconds, sizes_.effort.repeats,
                          [&] { score_jobs(engine_, pointers); });
  }

 private:
  /// Of chunks of one token each.
  double draw_seconds(const std::vector<Chunk>& chunks, size_t before, ops::RowClass row_class) {
    KmerDraws draws(engine_, {});
    DrawChains chains;
    for (size_t i = 0; i < chunks.size(); ++i) {
      ops::KmerDraw draw;
      draw.counter = draw_counter({i, 0, 0});
      draw.allowed = kAllAllowed;
      chains.add(draw, i);
      chains.end_chain();
    }
    return median_seconds(sizes_.effort.seconds, sizes_.effort.repeats, [&] {
      draws.draw(decoder_.forward(chunks, row_class), chains,
                 [](size_t, const ops::DrawnKmer&) { return true; });
      for (const Chunk& chunk : chunks) chunk.sequence->truncate(before);
    });
  }

  std::vector<uint32_t> make_tokens(size_t n, size_t from = 0) const {
    std::vector<uint32_t> tokens(n);
    for (size_t i = 0; i < n; ++i)
      tokens[i] = config().layout.kmer0() + static_cast<uint32_t>((from + i) * 2654435761u % ops::kKmers);
    return tokens;
  }

  Sizes sizes_;
  Engine engine_;
  Decoder& decoder_ = engine_.decoder();
  Head& head_ = engine_.head();
};

// `rate` is what is done in a second.
void print_numbers(const Work& work, double rate, double seconds, const Limits& limits) {
  const double least = limits.seconds(work);
  std::printf("%.4g | %.4g | %.4g | %.4g | %.4g | %.3f of %s |\n", work.operations / 1e12, work.bytes / 1e9,
              rate, 1e3 * seconds, 1e3 * least, least / seconds, limits.what(work));
}

void print_row(const char* shape, const char* products, const std::string& what, Model& model,
               const Limits& limits, size_t sequences, size_t before, size_t tokens,
               ops::RowClass row_class) {
  std::printf("| %s | %s | %s | ", shape, products, what.c_str());
  try {
    const double seconds = model.forward_seconds(sequences, before, tokens, row_class);
    print_numbers(forward_work(model.config(), sequences, before, tokens),
                  static_cast<double>(sequences * tokens) / seconds, seconds, limits);
  } catch (const OutOfMemory&) {
    std::printf("does not fit | | | | | |\n");
  }
  std::fflush(stdout);
}

void print_vep_row(const char* shape, const char* products, Model& model, const Limits& limits) {
  std::printf("| %s | %s | vep, windows of %zu | ", shape, products, model.sizes().window);
  try {
    const size_t sites = std::max<size_t>(1, model.windows() / 2);
    std::vector<ScoreJob> jobs = model.vep_jobs(sites);
    const double seconds = model.vep_seconds(jobs);
    print_numbers(model.vep_work(jobs), static_cast<double>(sites) / seconds, seconds, limits);
  } catch (const OutOfMemory&) {
    std::printf("does not fit | | | | | |\n");
  }
  std::fflush(stdout);
}

std::shared_ptr<const Checkpoint> open_checkpoint(const test::GeneratedCheckpoint& files) {
  return std::make_shared<const Checkpoint>(files.dir());
}

std::string options_of(const Shape& shape) {
  return std::string("--vocab 4224 --dna-start 0 --max-positions 8192 --dtype bf16 ") + shape.options;
}

void bench_shape(const Settings& settings, const Shape& shape, const Limits& limits) {
  const test::GeneratedCheckpoint files(options_of(shape));
  const auto checkpoint = open_checkpoint(files);
  const Sizes& sizes = settings.sizes;
  for (const bool library : {true, false}) {
    const char* const products = library ? "library" : "own";
    try {
      Model model(checkpoint, {DType::bf16, settings.device, library}, sizes);
      const size_t windows = model.windows();
      print_row(shape.name, products,
                "prefill, " + std::to_string(windows) + " windows of " + std::to_string(sizes.window), model,
                limits, windows, 0, sizes.window, ops::RowClass::prefill);
      for (const size_t batch : {size_t{1}, sizes.large_batch})
        print_row(shape.name, products, "decode, batch " + std::to_string(batch), model, limits, batch,
                  sizes.context, 1, library ? ops::RowClass::prefill : ops::RowClass::decode);
      print_vep_row(shape.name, products, model, limits);
    } catch (const OutOfMemory&) {
      std::printf("| %s | %s | the weights | do not fit | | | | | |\n", shape.name, products);
    }
  }
}

/// What commands do, where the device does nothing.
void bench_host(const Settings& settings, const Shape& shape) {
  const test::GeneratedCheckpoint files(options_of(shape));
  Model model(open_checkpoint(files), {DType::bf16, settings.device, true}, settings.sizes);
  const Sizes& sizes = model.sizes();
  const size_t windows = model.windows(), sites = std::max<size_t>(1, windows / 2);
  const auto print = [&](const std::string& what, size_t count, const char* unit, double seconds) {
    std::printf("| %s | %s | %.4g | %.4g a %s |\n", shape.name, what.c_str(), 1e6 * seconds,
                1e6 * seconds / static_cast<double>(count), unit);
    std::fflush(stdout);
  };
  print("prefill, " + std::to_string(windows) + " windows of " + std::to_string(sizes.window), windows,
        "window", model.forward_seconds(windows, 0, sizes.window, ops::RowClass::prefill));
  for (const size_t batch : {size_t{1}, sizes.large_batch})
    print("decode, batch " + std::to_string(batch), batch, "sequence",
          model.forward_seconds(batch, sizes.context, 1, ops::RowClass::decode));
  std::vector<ScoreJob> jobs = model.vep_jobs(sites);
  print("vep, " + std::to_string(sites) + " sites", sites, "variant", model.vep_seconds(jobs));
}

/// The kernel module's version, or "unknown".
std::string driver() {
  std::ifstream in("/proc/driver/nvidia/version");
  std::string line;
  return std::getline(in, line) ? line : "unknown";
}

Settings parse(int argc, char** argv) {
  Settings settings;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    if (i + 1 == argc) throw Error("bench_gpu", option + ": no such option, or it lacks its value");
    const std::string value = argv[++i];
    if (option == "--device") {
      settings.device = std::atoi(value.c_str());
    } else if (option == "--commit") {
      settings.commit = value;
    } else if (option == "--marginals") {
      settings.checkpoint = value;
    } else if (option == "--output") {
      settings.output = value;
    } else if (kEmulated && option == "--host") {
      settings.host = value;
      settings.sizes = kPublished;
    } else if (option == "--model") {
      const auto* const shape = std::find_if(std::begin(kShapes), std::end(kShapes),
                                             [&](const Shape& s) { return value == s.name; });
      if (shape == std::end(kShapes))
        throw Error("bench_gpu", "no model " + value + ": 500M, 3B, 8B or tiny");
      settings.shapes.push_back(*shape);
    } else {
      throw Error("bench_gpu", "no option " + option);
    }
  }
  if (settings.checkpoint.empty() != settings.output.empty())
    throw Error("bench_gpu", "--marginals and --output go together");
  if (settings.shapes.empty()) settings.shapes.assign(kShapes, kShapes + 3);
  return settings;
}

void print_host_table(const Settings& settings) {
  std::printf("commit: %s\n\n| model | work | host us a forward | host us |\n|---|---|---|---|\n",
              settings.commit.c_str());
  for (const Shape& shape : settings.shapes) bench_host(settings, shape);
}

int run(const Settings& settings) {
  if (!settings.host.empty()) {
    setenv("CARBON_EMULATED_KERNELS", "0", 1);
    setenv("CARBON_EMULATED_MULTIPROCESSORS", settings.host.c_str(), 1);
    print_host_table(settings);
    return 0;
  }
  std::shared_ptr<const cuda::Device> device;
  try {
    device = std::make_shared<cuda::Device>(settings.device);
  } catch (const Error& error) {
    std::printf("SKIPPED: %s\n", error.what());
    return 77;
  }
  device->use();
  if (!settings.checkpoint.empty()) {
    write_marginals(settings.checkpoint, settings.device, settings.output);
    return 0;
  }
  std::printf("device: %s\n", cuda::list_devices().at(static_cast<size_t>(settings.device)).c_str());
  std::printf("kind: %s\n", cuda::make_backend({DType::bf16, settings.device, true})->device_kind().c_str());
  std::printf("driver: %s\ncommit: %s\n", driver().c_str(), settings.commit.c_str());
  const Limits limits{copy_bandwidth(device, settings.sizes.effort),
                      matrix_rate(device, settings.sizes.effort)};
  std::printf("copy bandwidth, read + written: %.4g TB/s\nbf16 matrix rate: %.4g TFLOP/s\n\n",
              limits.bandwidth / 1e12, limits.rate / 1e12);
  std::printf(
      "| model | products | work | TFLOP | GB | tokens/s (vep: variants/s) | ms | least ms | achieved / "
      "limit |\n");
  std::printf("|---|---|---|---|---|---|---|---|---|\n");
  std::fflush(stdout);
  for (const Shape& shape : settings.shapes) bench_shape(settings, shape, limits);
  return 0;
}

}  // namespace
}  // namespace carbon::gpu_bench

int main(int argc, char** argv) {
  try {
    return carbon::gpu_bench::run(carbon::gpu_bench::parse(argc, argv));
  } catch (const std::exception& error) {
    std::fflush(stdout);
    std::fprintf(stderr, "bench_gpu: %s\n", error.what());
    return 1;
  }
}
