#include "src/bench/run.hpp"

#include <algorithm>
#include <fstream>
#include <memory>
#include <optional>

#include "kernels/cpu/cpu_machine.hpp"
#include "src/base/error.hpp"
#include "src/base/numbers.hpp"
#include "src/base/system.hpp"
#include "src/bench/report.hpp"
#include "src/bench/tests.hpp"
#include "src/files/output.hpp"
#include "src/model/synthetic.hpp"

namespace carbon {
namespace {

// An estimate in bytes for the activations of a pass, the operands of the limits' products, and the program.
constexpr uint64_t kWorkingMemory = uint64_t{1} << 30;

// On AArch64 the file has no name but two numbers, which lscpu can look up.
std::string cpu_name() {
  std::ifstream file("/proc/cpuinfo");
  std::string implementer, part;
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(": ");
    if (colon == std::string::npos) continue;
    const std::string value = line.substr(colon + 2);
    if (line.starts_with("model name")) return value;
    if (line.starts_with("CPU implementer")) implementer = value;
    if (line.starts_with("CPU part")) part = value;
  }
  return part.empty() ? "of unknown name" : "of implementer " + implementer + ", part " + part;
}

// default_batch_tokens() of a CPU, for the estimate, which is made before there is a backend.
constexpr size_t kUsualBatch = 4096;

std::string in_gib(uint64_t bytes) {
  return fixed_text(static_cast<double>(bytes) / double{1 << 30}, 1) + " GiB";
}

std::unique_ptr<LoadedModel> load_model(const BenchOptions& options) {
  if (options.synthetic.empty()) {
    ModelOptions chosen = options.model;
    chosen.use = ModelUse::any;
    auto model = std::make_unique<LoadedModel>(chosen);
    check_use(model->checkpoint(), model->config().annotator ? ModelUse::coding : ModelUse::bases);
    return model;
  }
  if (synthetic_config(options.synthetic).annotator)
    options.model.log->warning(
        "bench",
        "of this shape the layers, heads and widths are assumed; only its hidden size, "
        "vocabulary and context are known");
  return std::make_unique<LoadedModel>(options.model,
                                       synthetic_checkpoint(options.synthetic, options.model.rope_scaling));
}

std::vector<BenchTest> chosen(std::vector<BenchTest> tests, const std::vector<std::string>& names,
                              const ModelConfig& config) {
  for (const std::string& name : names)
    if (std::ranges::find(tests, name, &BenchTest::name) == tests.end())
      throw Error("bench", "a model of the family " + std::string(config.layout.family->name) +
                               " has no test " + name + "; leave that test out");
  std::erase_if(tests,
                [&](const BenchTest& test) { return std::ranges::find(names, test.name) == names.end(); });
  return tests;
}

}  // namespace

uint64_t synthetic_memory(const BenchOptions& options) {
  const ModelConfig config = synthetic_config(options.synthetic);
  const BenchSizes sizes = complete_bench_sizes(options.sizes, config);
  const bool wide = options.model.dtype == "f32";
  // In bf16 a backend may have a reordered copy of the weights, in addition to the checkpoint; in int8 it has
  // rounded ones.
  const double copied = wide ? 0.0 : options.model.dtype == "int8" ? kInt8WeightBytes : 2.0;
  const auto copies = static_cast<uint64_t>(copied * read_parameters(config));
  const uint64_t layers = config.causal() ? config.layers : 1;
  const uint64_t token = 2 * layers * config.kv_heads * config.head_dim * (wide ? 4 : 2);
  const size_t batch = options.model.batch_tokens != 0 ? options.model.batch_tokens : kUsualBatch;
  uint64_t cached = 2 * std::max(batch, 3 * sizes.prompt);
  for (const size_t batch : sizes.batches)
    cached = std::max<uint64_t>(cached, batch * (sizes.steps + ops::kPageTokens));
  return synthetic_bytes(config) + copies + cached * token + cpu::MemoryLimits::kBytes + kWorkingMemory;
}

void check_synthetic_memory(const BenchOptions& options, uint64_t available) {
  const uint64_t needed = synthetic_memory(options);
  if (needed > available)
    throw Error("bench",
                "a model of shape " + options.synthetic + " takes about " + in_gib(needed) +
                    " of memory, but only " + in_gib(available) + " are available; end other programs",
                {"or choose a smaller shape with {--synthetic}"});
}

void run_bench(const BenchOptions& options) {
  if (!options.synthetic.empty()) check_synthetic_memory(options, available_memory());
  // A table for people may share its file with the messages, as in `carbon bench > log 2>&1`.
  const bool as_message = options.output == "-" && !options.json;
  std::optional<TextOutput> output;
  if (!as_message) output.emplace(options.output);
  const Stopwatch watch;
  const std::unique_ptr<LoadedModel> model = load_model(options);
  Engine engine({model.get()});
  const BenchSizes sizes = complete_bench_sizes(options.sizes, model->config());
  const BenchSetting setting{
      model->checkpoint().id(),    model->dtype(), model->device_kind(), cpu_name(), model->threads(),
      parameters(model->config()), watch.seconds()};
  const std::vector<BenchLimit> limits = bench_limits(*model);
  std::vector<BenchTest> tests = bench_tests(engine, sizes);
  if (!options.tests.empty()) tests = chosen(std::move(tests), options.tests, model->config());

  BenchTimes times{std::vector<std::vector<double>>(limits.size()),
                   std::vector<std::vector<double>>(tests.size())};
  Progress progress(*options.model.log, options.progress, "bench", "measurements");
  progress.set_total((options.rounds + 1) * (limits.size() + tests.size()));
  uint64_t done = 0;
  // Each round measures the limits and the tests, so that other load on the machine affects both.
  for (size_t round = 0; round <= options.rounds; ++round) {
    for (size_t i = 0; i < limits.size(); ++i) {
      const double rate = limits[i].measure();
      if (round > 0) times.limits[i].push_back(rate);
      progress.update(++done, limits[i].text);
    }
    for (size_t i = 0; i < tests.size(); ++i) {
      const double seconds = tests[i].run();
      if (round > 0) times.tests[i].push_back(seconds);
      progress.update(++done, tests[i].name);
    }
  }
  progress.finish();
  const std::string text =
      options.json ? bench_json(setting, limits, tests, times) : bench_table(setting, limits, tests, times);
  if (as_message) {
    (void)!std::fputs(text.c_str(), stdout);  // main() notices an error
    return;
  }
  output->write(text);
  output->close();
}

}  // namespace carbon
