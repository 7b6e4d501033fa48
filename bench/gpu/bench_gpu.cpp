// bench_gpu: the CUDA backend's speed beside what the same device did in the same run.
//
//   bench_gpu [--model 500M|3B|8B|tiny]... [--dtype f16] [--window TOKENS|--decode] [--batch N]...
//             [--device N] [--commit NAME]
//   bench_gpu --kernels [--model NAME]... [--dtype f16] [--window TOKENS] [--batch N]... [--device N]
//             [--commit NAME]
//   bench_gpu --tiles [--model NAME]... [--device N]
//   bench_gpu --bits [--model NAME]... [--device N]
//   bench_gpu --marginals CHECKPOINT --output FOLDER [--device N]      for parity.py (marginals.hpp)
//   bench_gpu --host MULTIPROCESSORS [--model NAME]...                 emulated alone
//
// Random weights of the published shapes, whole models, bf16, with products by the library and by the
// backend's own kernels. Prefill is what `carbon score` does with windows of 8,192 bp, by the library. A
// decode step by the own kernels is one of `carbon generate`: the scheduler draws the next 6-mer of every
// sample of a batch, which have contexts of 1,024 tokens. The other two rows are what each would be
// otherwise: prefill where no library product passes its test, and a forward of decoding in the prefill class
// (ops::RowClass). The limit is the time that the operations take at the measured matrix rate or the bytes at
// the measured copy bandwidth, whichever is longer (work.hpp). vep is the centered recipe on both strands
// with one alternative allele a site; its limit counts what two alleles share once. Prefill and vep take as
// many windows as --batch-tokens by default.
// With --dtype f16 everything is by the backend's own kernels in f16. With --window only prefill is measured,
// of windows of so many tokens, as `carbon scan` has them; with --decode only steps of generation, whose
// prompts the library computes, since that takes less time. --batch gives the batches of decode steps.
// With --kernels the time of prefill and of decode steps is divided among their kernels (kernel_times.hpp).
// With --tiles each product of a model is timed with each tile that could serve it (tiles.hpp).
// With --bits it says how tensor cores and the library add, and times a barrier of a grid (bits.hpp).
// With --host the emulated GPU runs no kernel: what is left is the time that the host takes for itself, while
// a GPU would have nothing to do.
// Prints Markdown. Exit status 1 on an error, 77 without a GPU.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bench/gpu/bits.hpp"
#include "bench/gpu/kernel_times.hpp"
#include "bench/gpu/limits.hpp"
#include "bench/gpu/marginals.hpp"
#include "bench/gpu/model.hpp"
#include "bench/gpu/tiles.hpp"
#include "bench/gpu/work.hpp"
#include "kernels/cuda/cuda_backend.hpp"
#include "kernels/cuda/stream.hpp"
#include "src/base/error.hpp"
#include "src/base/words.hpp"
#include "src/model/synthetic.hpp"
#include "test/unit/generated_checkpoint.hpp"

namespace carbon::gpu_bench {
namespace {

constexpr Effort kEffort{1.0, 5, size_t{1} << 30, 8192};
#ifdef CARBON_CUDA_EMULATION
constexpr bool kEmulated = true;
constexpr size_t kBatches[] = {1, 3}, kHostBatches[] = {1, 64}, kTileRows[] = {1, 20, 70}, kBitsRows = 16;
constexpr Sizes kSizes{20, 64, kBatches, 80, {0, 1, size_t{1} << 20, 64}};
constexpr Sizes kHostSizes{1366, 1024, kHostBatches, 0, kEffort};
#else
constexpr bool kEmulated = false;
constexpr size_t kBatches[] = {1, 16, 64, 256}, kTileRows[] = {1, 8, 16, 32, 64, 128, 256}, kBitsRows = 256;
constexpr Sizes kSizes{1366, 1024, kBatches, 0, kEffort}, kHostSizes = kSizes;
#endif

/// A published shape (src/model/synthetic.hpp), or one for trying the program.
struct Shape {
  std::string name;
  ModelConfig config;
};

/// The shapes whose contexts hold the workloads below.
std::vector<std::string> shapes_of_kmers() {
  std::vector<std::string> names = synthetic_shapes();
  std::erase_if(names, [](const std::string& name) { return synthetic_config(name).layout.bases() == 1; });
  return names;
}

Shape find_shape(const std::string& name) {
  if (name == "tiny") {
    ModelConfig c;
    c.layers = c.kv_heads = 1;
    c.heads = 2;
    c.hidden = c.head_dim = c.intermediate = 64;
    c.tied_head = true;
    return {name, c};
  }
  const std::vector<std::string> published = shapes_of_kmers();
  if (std::ranges::find(published, name) == published.end())
    throw Error("bench_gpu", "no model " + name + ": " + joined(published, ", ") + " or tiny");
  return {name, synthetic_config(name)};
}

struct Settings {
  std::vector<Shape> shapes;
  int device = 0;
  std::string commit = "unknown";
  std::string checkpoint, output;  // of --marginals
  std::string host;                // multiprocessors
  DType dtype = DType::bf16;
  bool kernels = false, tiles = false, bits = false, decode = false;
  std::vector<size_t> batches;  // what `sizes` refers to, if there are any
  Sizes sizes = kSizes;
};

struct Limits {
  double bandwidth, rate;
  double seconds(const Work& work) const { return std::max(work.operations / rate, work.bytes / bandwidth); }
  const char* what(const Work& work) const {
    return work.operations / rate > work.bytes / bandwidth ? "matrix rate" : "bandwidth";
  }
};

// `rate` is what is done in a second.
void print_numbers(const Work& work, double rate, double seconds, const Limits& limits) {
  const double least = limits.seconds(work);
  std::printf("%.4g | %.4g | %.4g | %.4g | %.4g | %.3f of %s |\n", work.operations / 1e12, work.bytes / 1e9,
              rate, 1e3 * seconds, 1e3 * least, least / seconds, limits.what(work));
}

/// A row of the table. `done` tokens or variants are what one run of `measure`, which returns its seconds,
/// does.
void print_row(const std::string& heading, const Limits& limits, const Work& work, size_t done,
               const std::function<double()>& measure) {
  std::printf("| %s | ", heading.c_str());
  try {
    const double seconds = measure();
    print_numbers(work, static_cast<double>(done) / seconds, seconds, limits);
  } catch (const OutOfMemory&) {
    std::printf("does not fit | | | | | |\n");
  }
  std::fflush(stdout);
}

/// For make_checkpoint.
std::string options_of(const Shape& shape, const Sizes& sizes) {
  std::string text = "--vocab 4224 --dna-start 0 --dtype bf16";
  const auto add = [&](const char* option, size_t value) {
    text += std::string(" --") + option + " " + std::to_string(value);
  };
  const ModelConfig& c = shape.config;
  add("max-positions", std::max<size_t>(8192, sizes.window));
  add("layers", c.layers), add("hidden", c.hidden), add("heads", c.heads), add("kv-heads", c.kv_heads);
  add("head-dim", c.head_dim), add("intermediate", c.intermediate), add("tied", c.tied_head ? 1 : 0);
  return text;
}

/// In memory, or from files where the published context does not hold the windows.
std::shared_ptr<const Checkpoint> open_checkpoint(const Shape& shape, const Sizes& sizes) {
  if (sizes.window <= shape.config.max_positions)
    return std::make_shared<const Checkpoint>(synthetic_checkpoint(shape.name, std::nullopt));
  const test::GeneratedCheckpoint files(options_of(shape, sizes));
  return std::make_shared<const Checkpoint>(files.dir());  // which stay open
}

/// The products of a layer, and of the head.
std::vector<TileProduct> products_of(const ModelConfig& c) {
  const size_t queries = c.heads * c.head_dim;
  return {{queries + 2 * c.kv_heads * c.head_dim, c.hidden, false},
          {c.hidden, queries, false},
          {c.intermediate, c.hidden, true},
          {c.hidden, c.intermediate, false},
          {ops::kKmers, c.hidden, false}};
}

std::string prefill_name(const Model& model) {
  return "prefill, " + std::to_string(model.windows()) + " windows of " +
         std::to_string(model.sizes().window);
}
std::string decode_name(size_t batch) {
  return "decode, batch " + std::to_string(batch);
}
/// Two windows, of the two strands, are a site.
size_t sites(const Model& model) {
  return std::max<size_t>(1, model.windows() / 2);
}

/// The driver may refuse graphs, which costs time and is no error.
void report_graphs(const Shape& shape, const Model& model) {
  const cuda::Stream& stream = model.stream();
  if (stream.graph_failures() > 0)
    std::fprintf(stderr, "bench_gpu: %s: %zu graphs could not be made: %s\n", shape.name.c_str(),
                 stream.graph_failures(), stream.graph_problem().c_str());
}

void bench_shape(const Settings& settings, const Shape& shape, const Limits& limits) {
  const auto checkpoint = open_checkpoint(shape, settings.sizes);
  const Sizes& sizes = settings.sizes;
  const bool f16 = settings.dtype == DType::f16;
  for (const bool library : {true, false}) {
    if (library && (f16 || settings.decode)) continue;
    const std::string heading = shape.name + (f16       ? " | own, f16 | "
                                              : library ? " | library | "
                                                        : " | own | ");
    try {
      Model model(checkpoint, {settings.dtype, settings.device, library || (settings.decode && !f16)}, sizes);
      const ModelConfig& config = model.config();
      if (!settings.decode)
        print_row(heading + prefill_name(model), limits,
                  forward_work(config, model.windows(), 0, sizes.window), model.windows() * sizes.window,
                  [&] { return model.prefill_seconds(); });
      for (const size_t batch : sizes.batches)
        print_row(heading + decode_name(batch), limits, forward_work(config, batch, sizes.context, 1), batch,
                  [&] {
                    return library ? model.forward_seconds(batch, ops::RowClass::prefill)
                                   : model.step_seconds(batch);
                  });
      if (!settings.decode && !sizes.batches.empty())
        print_row(heading + "vep, windows of " + std::to_string(sizes.window), limits,
                  model.vep_work(sites(model)), sites(model),
                  [&] { return model.vep_seconds(sites(model)); });
      report_graphs(shape, model);
    } catch (const OutOfMemory&) {
      std::printf("| %sthe weights | do not fit | | | | | |\n", heading.c_str());
    }
  }
}

/// What commands do, kernel by kernel: prefill by the library, and decode steps.
void bench_kernels(const Settings& settings, const Shape& shape) {
  Model model(open_checkpoint(shape, settings.sizes),
              {settings.dtype, settings.device, settings.dtype == DType::bf16}, settings.sizes);
  KernelTimes times(model.stream());
  model.measure_kernels(times);
  const auto print = [&](const std::string& work, const std::function<double()>& measure) {
    try {
      const double whole = measure();
      double sum = 0;
      const std::vector<KernelTime> all = times.times();
      for (const KernelTime& time : all) sum += time.seconds;
      for (const KernelTime& time : all)
        std::printf("| %s | %s | %s | %.4g | %.4g | %.3f |\n", shape.name.c_str(), work.c_str(),
                    time.name.c_str(), time.launches, 1e3 * time.seconds, time.seconds / sum);
      std::printf("| %s | %s | all of them | | %.4g | 1 |\n| %s | %s | without events | | %.4g | |\n",
                  shape.name.c_str(), work.c_str(), 1e3 * sum, shape.name.c_str(), work.c_str(), 1e3 * whole);
    } catch (const OutOfMemory&) {
      std::printf("| %s | %s | does not fit | | | |\n", shape.name.c_str(), work.c_str());
    }
    std::fflush(stdout);
  };
  print(prefill_name(model), [&] { return model.prefill_seconds(); });
  for (const size_t batch : model.sizes().batches)
    print(decode_name(batch), [&] { return model.step_seconds(batch); });
  report_graphs(shape, model);
}

/// What commands do, where the device does nothing. It draws nothing either, so that samples would end at
/// once, and what is timed of a step of generation is its forward.
void bench_host(const Settings& settings, const Shape& shape) {
  Model model(open_checkpoint(shape, settings.sizes), {DType::bf16, settings.device, true}, settings.sizes);
  const auto print = [&](const std::string& what, size_t count, const char* unit, double seconds) {
    std::printf("| %s | %s | %.4g | %.4g a %s |\n", shape.name.c_str(), what.c_str(), 1e6 * seconds,
                1e6 * seconds / static_cast<double>(count), unit);
    std::fflush(stdout);
  };
  print(prefill_name(model), model.windows(), "window", model.prefill_seconds());
  for (const size_t batch : model.sizes().batches)
    print(decode_name(batch), batch, "sequence", model.forward_seconds(batch, ops::RowClass::decode));
  print("vep, " + std::to_string(sites(model)) + " sites", sites(model), "variant",
        model.vep_seconds(sites(model)));
}

/// The kernel module's version, or "unknown".
std::string driver() {
  std::ifstream in("/proc/driver/nvidia/version");
  std::string line;
  return std::getline(in, line) ? line : "unknown";
}

using Flag = std::pair<std::string, bool Settings::*>;
const Flag kFlags[] = {{"--kernels", &Settings::kernels},
                       {"--tiles", &Settings::tiles},
                       {"--bits", &Settings::bits},
                       {"--decode", &Settings::decode}};

Settings parse(int argc, char** argv) {
  Settings settings;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    const auto* const flag = std::ranges::find(kFlags, option, &Flag::first);
    if (flag != std::end(kFlags)) {
      settings.*flag->second = true;
      continue;
    }
    if (i + 1 == argc) throw Error("bench_gpu", option + ": no such option, or it lacks its value");
    const std::string value = argv[++i];
    if (option == "--device") {
      settings.device = std::atoi(value.c_str());
    } else if (option == "--dtype" && value == "f16") {
      settings.dtype = DType::f16;
    } else if (option == "--window" && std::atoi(value.c_str()) > 0) {
      settings.sizes.window = static_cast<size_t>(std::atoi(value.c_str()));
      settings.sizes.batches = {};
    } else if (option == "--batch" && std::atoi(value.c_str()) > 0) {
      settings.batches.push_back(static_cast<size_t>(std::atoi(value.c_str())));
    } else if (option == "--commit") {
      settings.commit = value;
    } else if (option == "--marginals") {
      settings.checkpoint = value;
    } else if (option == "--output") {
      settings.output = value;
    } else if (kEmulated && option == "--host") {
      settings.host = value;
      settings.sizes = kHostSizes;
    } else if (option == "--model") {
      settings.shapes.push_back(find_shape(value));
    } else {
      throw Error("bench_gpu", "no option " + option + " " + value);
    }
  }
  if (settings.checkpoint.empty() != settings.output.empty())
    throw Error("bench_gpu", "--marginals and --output go together");
  if (settings.shapes.empty())
    for (const std::string& name : shapes_of_kmers()) settings.shapes.push_back(find_shape(name));
  if (!settings.batches.empty()) settings.sizes.batches = settings.batches;
  return settings;
}

void print_host_table(const Settings& settings) {
  std::printf("commit: %s\n\n| model | work | host us a forward | host us |\n|---|---|---|---|\n",
              settings.commit.c_str());
  for (const Shape& shape : settings.shapes) bench_host(settings, shape);
}

void print_heading(const Settings& settings, const std::string& switches) {
  std::printf("device: %s\n", cuda::list_devices().at(static_cast<size_t>(settings.device)).c_str());
  std::printf("kind: %s\n", cuda::make_backend({DType::bf16, settings.device, true})->device_kind().c_str());
  if (!switches.empty()) std::printf("switches: %s\n", switches.c_str());
  std::printf("driver: %s\ncommit: %s\n", driver().c_str(), settings.commit.c_str());
}

int run(const Settings& settings) {
  if (!settings.host.empty()) {
    setenv("CARBON_EMULATED_KERNELS", "0", 1);
    setenv("CARBON_EMULATED_MULTIPROCESSORS", settings.host.c_str(), 1);
    print_host_table(settings);
    return 0;
  }
  const std::string switches = cuda::describe_switches();
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
  print_heading(settings, switches);
  if (settings.kernels) {
    std::printf("\n| model | work | kernel | launches | ms | share |\n|---|---|---|---|---|---|\n");
    std::fflush(stdout);
    for (const Shape& shape : settings.shapes) bench_kernels(settings, shape);
    return 0;
  }
  if (settings.bits) {
    std::vector<TileProduct> products;
    for (const Shape& shape : settings.shapes) {
      const std::vector<TileProduct> more = products_of(shape.config);
      products.insert(products.end(), more.begin(), more.end());
    }
    return print_bits(device, products, kBitsRows) ? 0 : 1;
  }
  if (settings.tiles) {
    for (const Shape& shape : settings.shapes)
      print_tiles(device, products_of(shape.config), kTileRows, settings.sizes.effort);
    return 0;
  }
  Effort effort = settings.sizes.effort;
  if (settings.decode) effort.seconds /= 10;
  const Limits limits{copy_bandwidth(device, effort), matrix_rate(device, effort)};
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
