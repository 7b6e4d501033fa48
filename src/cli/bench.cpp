// carbon bench: options to run_bench.
#include "src/bench/run.hpp"

#include <algorithm>
#include <charconv>

#include "src/base/error.hpp"
#include "src/base/near_names.hpp"
#include "src/cli/commands.hpp"
#include "src/cli/options.hpp"
#include "src/cli/stderr_log.hpp"
#include "src/model/synthetic.hpp"

namespace carbon {
namespace {

constexpr size_t kMostSequences = 4096;

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
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const std::string name = text.substr(begin, end - begin);
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw Error("main_bench", "--tests " + text + ": there is no test '" + name + "'" +
                                    did_you_mean(name, known) + "; expected names such as prefill,decode");
    tests.push_back(name);
    begin = end + 1;
  }
  return tests;
}

}  // namespace

int cmd_bench(int argc, char** argv) {
  CLI::App app("Measure the speed of a model on this machine, next to the limits of the machine");
  BenchOptions options;
  CommonOptions common;
  std::string batches, tests;
  set_usage(app, "carbon bench [options] [-m DIR|FILE|NAME | --synthetic 500M|3B|8B]",
            {{"how fast the 500M model would be on this machine", "carbon bench --synthetic 500M"},
             {"a model on a GPU, as JSON", "carbon bench -m HuggingFaceBio/Carbon-3B --device cuda --json"}});
  CLI::Option* synthetic = app.add_option("--synthetic", options.synthetic,
                                          "use random weights of a published shape instead of a model")
                               ->type_name("SHAPE")
                               ->check(one_of(synthetic_shapes()));
  app.add_option("-p,--prompt-tokens", options.sizes.prompt,
                 "tokens per window of prefill, score, scan and vep (default: 1366, for 8,192 bp)")
      ->type_name("TOKENS")
      ->check(CLI::Range(size_t{3}, kMaxPositions));
  app.add_option("-n,--new-tokens", options.sizes.steps, "tokens decoded per sequence (default: 32)")
      ->type_name("TOKENS")
      ->check(CLI::Range(size_t{1}, kMaxPositions));
  app.add_option("-b,--batch", batches, "numbers of sequences decoded at a time (default: 1,4,16)")
      ->type_name("LIST");
  app.add_option("--tests", tests,
                 "run only these: prefill, decode, score, scan, vep, anchored (default: all)")
      ->type_name("LIST");
  app.add_option("--rounds", options.rounds, "measured rounds, after one warm-up round (default: 3)")
      ->type_name("INT")
      ->check(CLI::Range(1, 1000));
  app.add_flag("--json", options.json, "write JSON instead of a table");
  app.add_option("-o,--output", options.output, "output file (default: standard output)")->type_name("FILE");
  add_common_options(app, common);
  synthetic->excludes(app.get_option("--model"));
  synthetic->excludes(app.get_option("--lora"));

  if (const int status = parse_options(app, argc, argv, "bench"); status >= 0) return status;
  if (!batches.empty()) options.sizes.batches = parse_batches(batches);
  if (app.count("--tests") > 0) options.tests = parse_tests(tests);
  options.model = common.model;
  options.progress = common.progress;
  run_bench(options);
  const bool in_file = options.json && options.output != "-";
  program_log().info("bench", "a picture of this: carbon report " + (in_file ? options.output : "FILE") +
                                  " -o report.html" + (in_file ? "" : ", with --json -o FILE"));
  return 0;
}

}  // namespace carbon
