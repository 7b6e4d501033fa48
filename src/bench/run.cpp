#include "src/bench/run.hpp"

#include <algorithm>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "kernels/cpu/cpu_machine.hpp"
#include "src/base/error.hpp"
#include "src/base/numbers.hpp"
#include "src/base/system.hpp"
#include "src/base/words.hpp"
#include "src/bench/tests.hpp"
#include "src/files/output.hpp"
#include "src/model/synthetic.hpp"
#include "version.h"

namespace carbon {

namespace {

using json = nlohmann::ordered_json;

constexpr double kGiga = 1e9;

// The largest rate of all limits of this kind in a round; 0 if there are none.
double largest_limit(LimitKind kind, size_t round, std::span<const BenchLimit> limits,
                     const BenchTimes& times) {
  double most = 0;
  for (size_t i = 0; i < limits.size(); ++i)
    if (limits[i].kind == kind) most = std::max(most, times.limits[i][round]);
  return most;
}

// The rates of one limit in all rounds; none if it is not measured.
std::span<const double> rates_of_limit(const std::string& name, std::span<const BenchLimit> limits,
                                       const BenchTimes& times) {
  for (size_t i = 0; i < limits.size(); ++i)
    if (limits[i].name == name) return times.limits[i];
  return {};
}

// In each round the first rate by the second.
std::vector<double> shares_of(std::span<const double> rates, std::span<const double> of) {
  std::vector<double> shares;
  for (size_t round = 0; round < rates.size(); ++round) shares.push_back(rates[round] / of[round]);
  return shares;
}

json to_json(const Spread& spread) {
  return {{"median", spread.median}, {"min", spread.least}, {"max", spread.most}};
}

// Rates of something that is done `amount` times per run.
Spread rates_of(double amount, std::span<const double> seconds) {
  std::vector<double> rates;
  for (const double s : seconds) rates.push_back(amount / s);
  return spread_of(std::move(rates));
}

// The operations of a test per second, by the rate of the matrix product in the same round.
Spread share_of_product(const BenchTest& test, std::span<const double> seconds, const std::string& dtype,
                        std::span<const BenchLimit> limits, const BenchTimes& times) {
  std::vector<double> rates;
  for (const double s : seconds) rates.push_back(test.work.flops / s);
  return spread_of(shares_of(rates, rates_of_limit(dtype + "_product", limits, times)));
}

// The text in a column of at least this width.
std::string left(const std::string& text, size_t width) {
  return text + std::string(width > text.size() ? width - text.size() : 0, ' ');
}
std::string right(const std::string& text, size_t width) {
  return std::string(width > text.size() ? width - text.size() : 0, ' ') + text;
}
std::string right(double value, int decimals, size_t width) {
  return right(fixed_text(value, decimals), width);
}

std::string unit_of(LimitKind kind, const std::string& name) {
  return kind == LimitKind::bandwidth || name == "copy" ? "GB/s" : "GFLOP/s";
}

}  // namespace

Spread spread_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t n = values.size();
  return {(values[(n - 1) / 2] + values[n / 2]) / 2, values.front(), values.back()};
}

LimitShare share_of_limit(const PassWork& work, std::span<const double> seconds,
                          std::span<const BenchLimit> limits, const BenchTimes& times) {
  LimitShare result;
  for (size_t round = 0; round < seconds.size(); ++round) {
    const double computing = work.flops / largest_limit(LimitKind::matrix, round, limits, times);
    const double reading = work.bytes / largest_limit(LimitKind::bandwidth, round, limits, times);
    result.by_reading = reading > computing;
    result.shares.push_back(std::max(computing, reading) / seconds[round]);
  }
  return result;
}

std::string bench_table(const BenchSetting& setting, std::span<const BenchLimit> limits,
                        std::span<const BenchTest> tests, const BenchTimes& times) {
  std::string text =
      "carbon " CARBON_VERSION ": " + setting.model + ", " + fixed_text(setting.parameters / 1e6, 1) +
      " million parameters, " + setting.dtype + ", " + setting.device + ", " +
      count_of(static_cast<uint64_t>(setting.threads), "thread") + "\nCPU " + setting.cpu + "; ready after " +
      fixed_text(setting.load_seconds, 2) + " s; medians of " +
      count_of(times.tests.front().size(), "round") + "\n\n" + left("limit of the machine", 36) + " " +
      right("median", 10) + " " + left("unit", 8) + " " + right("lowest..highest", 21) + "  of registers\n";
  for (size_t i = 0; i < limits.size(); ++i) {
    const Spread s = spread_of(times.limits[i]);
    text += left(limits[i].text, 36) + " " + right(s.median / kGiga, 1, 10) + " " +
            left(unit_of(limits[i].kind, limits[i].name), 8) + " " +
            right(fixed_text(s.least / kGiga, 1) + ".." + fixed_text(s.most / kGiga, 1), 21) + "  ";
    const std::span<const double> registers = rates_of_limit(limits[i].bound, limits, times);
    text += registers.empty()
                ? right("-", 12)
                : right(100 * spread_of(shares_of(times.limits[i], registers)).median, 1, 11) + "%";
    text += "\n";
  }
  text += "\n" + left("test", 20) + " " + right("tokens/s", 10) + " " + right("bp/s", 10) + " " +
          right("variants/s", 10) + " " + right("GFLOP/s", 9) + " " + right("GB/s", 8) + "  " +
          right("of limit", 8) + " " + left("(of)", 9) + " " + right("of product", 10) +
          "  seconds lowest..highest\n";
  for (size_t i = 0; i < tests.size(); ++i) {
    const BenchTest& test = tests[i];
    const Spread seconds = spread_of(times.tests[i]);
    const LimitShare share = share_of_limit(test.work, times.tests[i], limits, times);
    std::string name = test.name, variants = "-";
    if (test.name == "decode") name += ", batch " + std::to_string(test.batch);
    if (test.name == "vep") name += ", " + std::to_string(test.batch) + " alt";
    if (test.name == "anchored")
      name += "/" + std::to_string(test.batch) + ", H " + std::to_string(test.horizon);
    if (test.variants > 0) variants = fixed_text(static_cast<double>(test.variants) / seconds.median, 3);
    text += left(name, 20) + " " + right(static_cast<double>(test.tokens) / seconds.median, 1, 10) + " " +
            right(static_cast<double>(test.bases) / seconds.median, 1, 10) + " " + right(variants, 10) + " " +
            right(test.work.flops / seconds.median / kGiga, 1, 9) + " " +
            right(test.work.bytes / seconds.median / kGiga, 2, 8) + "  " +
            right(100 * spread_of(share.shares).median, 1, 7) + "% " +
            left(share.by_reading ? "reading" : "products", 9) + " " +
            right(100 * share_of_product(test, times.tests[i], setting.dtype, limits, times).median, 1, 9) +
            "%  " + fixed_text(seconds.least, 3) + ".." + fixed_text(seconds.most, 3) + "\n";
  }
  return text;
}

std::string bench_json(const BenchSetting& setting, std::span<const BenchLimit> limits,
                       std::span<const BenchTest> tests, const BenchTimes& times) {
  json out = {{"carbon", CARBON_VERSION},
              {"model", setting.model},
              {"parameters", setting.parameters},
              {"dtype", setting.dtype},
              {"device", setting.device},
              {"cpu", setting.cpu},
              {"threads", setting.threads},
              {"load_seconds", setting.load_seconds},
              {"rounds", times.tests.front().size()},
              {"limits", json::object()},
              {"tests", json::array()}};
  for (size_t i = 0; i < limits.size(); ++i) {
    const std::string unit = unit_of(limits[i].kind, limits[i].name) == "GB/s" ? "bytes/s" : "flop/s";
    json entry = to_json(spread_of(times.limits[i]));
    entry["unit"] = unit;
    if (const auto registers = rates_of_limit(limits[i].bound, limits, times); !registers.empty())
      entry["of_multiply_add"] = to_json(spread_of(shares_of(times.limits[i], registers)));
    out["limits"][limits[i].name] = entry;
  }
  for (size_t i = 0; i < tests.size(); ++i) {
    const BenchTest& test = tests[i];
    const std::vector<double>& seconds = times.tests[i];
    const LimitShare share = share_of_limit(test.work, seconds, limits, times);
    json entry = {{"test", test.name}};
    const char* const batch = test.name == "vep" ? "alts" : test.name == "anchored" ? "distance" : "batch";
    entry[batch] = test.batch;
    if (test.name == "anchored") entry["horizon"] = test.horizon;
    entry["tokens"] = test.tokens;
    entry["bases"] = test.bases;
    if (test.variants > 0) entry["variants"] = test.variants;
    entry["flop"] = test.work.flops;
    entry["bytes"] = test.work.bytes;
    entry["seconds"] = to_json(spread_of(seconds));
    entry["tokens_per_s"] = to_json(rates_of(static_cast<double>(test.tokens), seconds));
    entry["bases_per_s"] = to_json(rates_of(static_cast<double>(test.bases), seconds));
    if (test.variants > 0)
      entry["variants_per_s"] = to_json(rates_of(static_cast<double>(test.variants), seconds));
    entry["flop_per_s"] = to_json(rates_of(test.work.flops, seconds));
    entry["bytes_per_s"] = to_json(rates_of(test.work.bytes, seconds));
    entry["limit"] = share.by_reading ? "reading" : "products";
    entry["of_limit"] = to_json(spread_of(share.shares));
    entry["of_product"] = to_json(share_of_product(test, seconds, setting.dtype, limits, times));
    out["tests"].push_back(entry);
  }
  return out.dump(2) + "\n";
}
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
