// carbon bench: options to run_bench.
#include "src/base/words.hpp"
#include "src/bench/run.hpp"

#include <algorithm>
#include <charconv>
#include <memory>

#include "src/base/error.hpp"
#include "src/cli/commands.hpp"
#include "src/cli/options.hpp"
#include "src/model/synthetic.hpp"

namespace carbon {
namespace {

constexpr size_t kMostSequences = 4096;

struct BenchCommand {
  BenchOptions options;
  CommonOptions common;
  std::string batches, tests;
};

std::vector<size_t> parse_batches(const std::string& text) {
  std::vector<size_t> batches;
  const char *at = text.data(), *const end = at + text.size();
  while (true) {
    size_t batch = 0;
    const auto [stop, problem] = std::from_chars(at, end, batch);
    if (problem != std::errc() || batch < 1 || batch > kMostSequences || (stop != end && *stop != ','))
      throw Error("main_bench", "-b " + text + ": expected numbers from 1 to " +
                                    std::to_string(kMostSequences) + " with commas between them");
    batches.push_back(batch);
    if (stop == end) return batches;
    at = stop + 1;
  }
}

std::vector<std::string> parse_tests(const std::string& text) {
  const std::vector<std::string> known = bench_test_names();
  std::vector<std::string> tests;
  for (const std::string_view part : split(text, ',')) {
    const std::string name(part);
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw Error("main_bench", "--tests " + text + ": there is no test '" + name + "'" +
                                    did_you_mean(name, known) + "; expected names such as prefill,decode");
    tests.push_back(name);
  }
  return tests;
}

int run(const CommandLine& line, BenchCommand& command) {
  BenchOptions& options = command.options;
  if (!command.batches.empty()) options.sizes.batches = parse_batches(command.batches);
  if (line.given("tests")) options.tests = parse_tests(command.tests);
  options.model = command.common.model;
  options.progress = command.common.progress;
  program_log().set_results_on_stdout(false);  // the table comes at the end, when no bar is there
  run_bench(options);
  return 0;
}

}  // namespace

Run declare_bench(CommandLine& line) {
  const auto command = std::make_shared<BenchCommand>();
  BenchOptions& options = command->options;
  line.describe(
      "Measure the speed of a model on this machine, next to the limits of the machine",
      "carbon bench [options] [-m DIR|FILE|NAME | --synthetic 500M|3B|8B|marin|carbon-a]",
      {{"how fast the 500M model would be on this machine", "carbon bench --synthetic 500M"},
       {"a model on a GPU, as JSON", "carbon bench -m HuggingFaceBio/Carbon-3B --device cuda --json"}});
  OptionGroup group = line.options();
  group
      .option({"synthetic", "SHAPE", "use random weights of a published shape instead of a model"},
              options.synthetic)
      .one_of(synthetic_shapes())
      .excludes("model")
      .excludes("lora");
  group
      .option({'p', "prompt-tokens", "TOKENS", "tokens per window of prefill, score, scan and vep"},
              options.sizes.prompt)
      .range(3, kMaxPositions)
      .shows_default("1366, for 8,192 bp; 255 for a MarinDNA, 16384 for a GENERanno");
  group.option({'n', "new-tokens", "TOKENS", "tokens decoded per sequence"}, options.sizes.steps)
      .range(1, kMaxPositions)
      .shows_default();
  group.option({'b', "batch", "LIST", "numbers of sequences decoded at a time"}, command->batches)
      .shows_default("1,4,16");
  group
      .option({"tests", "LIST", "run only these: prefill, decode, score, scan, vep, anchored, annotate"},
              command->tests)
      .offers(bench_test_names())
      .shows_default("all");
  group.option({"rounds", "INT", "measured rounds, after one warm-up round"}, options.rounds)
      .range(1, 1000)
      .shows_default();
  group.flag("json", "write JSON instead of a table", options.json);
  group.option({'o', "output", kOutput, "output file (default: standard output)"}, options.output);
  add_common_options(line, command->common);
  return [command](const CommandLine& parsed) { return run(parsed, *command); };
}

}  // namespace carbon
