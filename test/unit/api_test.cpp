// The functions of carbon.h give the numbers of the commands, whoever else calls.
#include <doctest/doctest.h>

#include <cmath>
#include <thread>

#include "src/embed/predict.hpp"
#include "src/embed/run.hpp"
#include "src/engine/engine.hpp"
#include "src/generate/requests.hpp"
#include "src/scan/assembler.hpp"
#include "src/score/assembler.hpp"
#include "src/score/sequence_scores.hpp"
#include "src/vep/variant_scores.hpp"
#include "test/unit/api_calls.hpp"
#include "test/unit/genome_files.hpp"
#include "test/unit/serve_running.hpp"
#include "test/unit/test_engine.hpp"

using namespace carbon;
using namespace carbon::test;
using carbon_test::TemporaryDirectory;
using nlohmann::json;

namespace {

// NaN equals NaN: bits are compared.
bool same_bits(double a, double b) {
  return std::memcmp(&a, &b, sizeof a) == 0 || (std::isnan(a) && std::isnan(b));
}

SequenceScores score(Engine& engine, const ScoreOptions& options, const std::string& bases) {
  ScoreCollector collector(options.level, kKmerLength);
  ScoreAssembler assembler(options, kKmerLength, collector);
  ScorePlanner(engine.config().layout, options)
      .plan({"s", 0, static_cast<int64_t>(bases.size())}, bases, [&](const ScoredWindow& window) {
        run_requests(engine, window.requests);
        assembler.consume(window);
      });
  return collector.take();
}

std::vector<std::string> some_sequences() {
  std::string gap = random_bases(331, 2);
  gap.replace(40, 20, 20, 'N');
  return {random_bases(700, 1), "", "NNN", gap, "a", random_bases(30'000, 3), "ACGTNN"};
}

}  // namespace

TEST_CASE("carbon.h: score has the numbers of carbon score") {
  const GeneratedCheckpoint files(tiny());
  TestEngine engine(files.dir(), 500);
  const std::vector<std::string> sequences = some_sequences();
  for (const int threads : {1, 2}) {
    const ApiModel model(files.dir(), threads);
    for (const auto& [strand, level] :
         {std::pair("+", "bp"), std::pair("both", "bp"), std::pair("-", "token")}) {
      CAPTURE(strand);
      ScoreOptions options;
      options.strand = *value_of(kStrandWords, strand);
      options.level = *value_of(kScoreLevelWords, level);
      complete_score_options(options, engine.get().config().max_positions, kKmerLength);
      const auto results = model.ask("score", {{"strand", strand}, {"level", level}}, sequences,
                                     {"n_scored", "sum_logp", "mean_logp", "logp"});
      REQUIRE(results.size() == sequences.size());
      for (size_t i = 0; i < sequences.size(); ++i) {
        const SequenceScores wanted = score(engine.get(), options, sequences[i]);
        CHECK(results[i].at("n_scored").i64() == static_cast<int64_t>(wanted.scored));
        CHECK(same_bits(results[i].at("sum_logp").f64(), wanted.sum));
        CHECK(same_bits(results[i].at("mean_logp").f64(), wanted.sum / static_cast<double>(wanted.scored)));
        REQUIRE(results[i].at("logp").size() == wanted.values.size());
        for (size_t j = 0; j < wanted.values.size(); ++j)
          REQUIRE(same_bits(results[i].at("logp").f64(j), wanted.values[j]));
      }
    }
  }
}

TEST_CASE("carbon.h: the four probabilities of a base contain that of its letter") {
  const GeneratedCheckpoint files(tiny());
  const ApiModel model(files.dir());
  const std::string bases = "ACGTACGTNACGT" + random_bases(50, 8);
  const auto results =
      model.ask("score", {{"probabilities", true}}, {bases}, {"logp", "probabilities", "entropy"});
  const TakenResult& result = results.at(0);
  REQUIRE(result.at("probabilities").shape == std::vector<int64_t>{static_cast<int64_t>(bases.size()), 4});
  for (size_t i = 0; i < bases.size(); ++i) {
    const size_t column = std::string("ACGT").find(bases[i]);
    CHECK(std::isnan(result.at("entropy").f64(i)) == (bases[i] == 'N'));
    if (column == std::string::npos) {
      CHECK(std::isnan(result.at("logp").f64(i)));
      continue;
    }
    double sum = 0;
    for (size_t k = 0; k < 4; ++k) sum += result.at("probabilities").f64(4 * i + k);
    CHECK(sum == doctest::Approx(1));
    CHECK(result.at("probabilities").f64(4 * i + column) == std::exp(result.at("logp").f64(i)));
  }
}

TEST_CASE("carbon.h: variants have the numbers of carbon vep") {
  const GeneratedCheckpoint files(tiny());
  TestEngine engine(files.dir(), 500);
  const ApiModel model(files.dir());
  const TemporaryDirectory folder;
  const std::string contig = random_bases(3000, 5);
  const IndexedFasta fasta(folder.put("ref.fa", ">c1\n" + contig + "\n"));
  std::vector<PlacedVariant> placed;
  std::vector<std::string> inputs;
  for (int i = 0; i < 40; ++i) {
    const auto at = static_cast<size_t>(70 * i + 3);
    const std::string ref = i % 5 == 4 ? "T" : contig.substr(at, 1 + i % 3);
    const std::string alt = i % 7 == 3 ? "<DEL>" : ref == "A" ? "C" : "A";
    placed.push_back({i == 11 ? "c9" : "c1", {static_cast<int64_t>(at), ref, {alt}}});
    inputs.push_back(
        json{{"chrom", placed.back().contig}, {"pos", at + 1}, {"ref", ref}, {"alt", alt}}.dump());
  }
  for (const char* recipe : {"centered", "next-token", "anchored"}) {
    CAPTURE(recipe);
    RecipeSettings settings;
    settings.recipes = {recipe};
    const SitePlanner planner(make_recipes(settings, engine.get().config()), engine.get().config().layout,
                              nullptr);
    const auto results = model.ask("variants", {{"fasta_ref", folder.file("ref.fa")}, {"recipe", recipe}},
                                   inputs, {"values", "flag"});
    REQUIRE(results.size() == placed.size());
    size_t values = 0;
    score_variants(engine.get(), fasta, planner, placed, [&](size_t i, const VariantScores& wanted) {
      CHECK(same_bits(results[i].at("values").f64(), wanted.values[0][0]));
      CHECK(results[i].at("flag").bytes == flag_name(wanted.flags[0]));
      values += std::isnan(wanted.values[0][0]) ? 0 : 1;
    });
    CHECK(values > 5);
    CHECK(values < 40);
  }
  // The same on a sequence, and one that is asked for before others are added.
  const json sequence = {{"sequence", contig}};
  carbon_call* const call = model.begin("variants", sequence);
  const std::string one =
      json{{"pos", 4}, {"ref", contig.substr(3, 1)}, {"alt", contig[3] == 'A' ? "C" : "A"}}.dump();
  must(carbon_call_add(call, one.data(), static_cast<int64_t>(one.size())));
  must(carbon_call_next(call, 60'000));
  CHECK(std::isfinite(take_array(call, "values").f64()));
  must(carbon_call_free(call));
}

TEST_CASE("carbon.h: scan has the numbers of carbon scan, of a sequence and of a region") {
  const GeneratedCheckpoint files(tiny());
  TestEngine engine(files.dir(), 500);
  const ApiModel model(files.dir());
  const TemporaryDirectory folder;
  std::string bases = random_bases(20'000, 6);
  bases.replace(100, 10, 10, 'N');
  const IndexedFasta fasta(folder.put("ref.fa", ">c1\n" + bases + "\n"));
  ScanOptions options;
  options.context = 600;
  complete_scan_options(options, engine.get().config().max_positions, kKmerLength);
  const ScanPlanner planner(make_scan_grid(options.context, engine.get().config().max_positions, kKmerLength),
                            options);
  std::vector<double> wanted(4 * bases.size(), NAN);
  ScanAssembler assembler(planner.tracks(), options.level, kKmerLength, [&](const ScannedBase& base) {
    for (size_t k = 0; k < 4; ++k)
      wanted[4 * static_cast<size_t>(base.position) + k] =
          base.logp[static_cast<size_t>(base_digit("ACGT"[k]))];
  });
  planner.plan(
      {"c1", 0, 20'000, 0, 20'000}, [&](int64_t begin, int64_t end) { return fasta.fetch("c1", begin, end); },
      engine.get().config().layout,
      [&](const ScanItem& item) {
        run_requests(engine.get(), item.requests);
        assembler.consume(item);
      });
  const std::vector<std::string> names = {"logp", "begin", "bases"};
  const auto whole = model.ask("scan", {{"context", 600}}, {bases, "", "NN", bases.substr(0, 5)}, names);
  REQUIRE(whole.size() == 4);
  REQUIRE(whole[0].at("logp").size() == wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) REQUIRE(same_bits(whole[0].at("logp").f64(i), wanted[i]));
  CHECK(whole[1].at("logp").shape == std::vector<int64_t>{0, 4});
  CHECK(whole[2].at("bases").bytes == "NN");
  const auto part = model.ask("scan", {{"context", 600}, {"fasta_ref", folder.file("ref.fa")}},
                              {"c1:9001-12000", "c1:91-130"}, names);
  REQUIRE(part.size() == 2);
  CHECK(part[0].at("begin").i64() == 9000);
  CHECK(part[0].at("bases").bytes == bases.substr(9000, 3000));
  for (size_t i = 0; i < part[0].at("logp").size(); ++i)
    REQUIRE(same_bits(part[0].at("logp").f64(i), wanted[4 * 9000 + i]));
  for (size_t i = 0; i < 160; ++i) REQUIRE(same_bits(part[1].at("logp").f64(i), wanted[4 * 90 + i]));
}

TEST_CASE("carbon.h: embed has the numbers of carbon embed") {
  const GeneratedCheckpoint files(tiny());
  TestEngine engine(files.dir(), 500);
  const ApiModel model(files.dir());
  const std::vector<std::string> sequences = {random_bases(700, 1), "ACGTACG", random_bases(61, 2)};
  for (const auto& [pool, layer, strand] : {std::tuple("separator", -1, "+"), std::tuple("mean", 2, "both"),
                                            std::tuple("none", -1, "-"), std::tuple("last", 1, "+")}) {
    CAPTURE(pool);
    EmbedOptions options;
    options.pooling.pool = *value_of(kPoolWords, pool);
    options.layer = layer;
    options.strand = *value_of(kStrandWords, strand);
    const EmbedPlanner planner(engine.get().config(), options);
    const auto results =
        model.ask("embed", {{"pool", pool}, {"layer", layer}, {"strand", strand}}, sequences, {"embedding"});
    REQUIRE(results.size() == sequences.size());
    for (size_t i = 0; i < sequences.size(); ++i) {
      EmbedItem item = planner.plan("s", sequences[i]);
      run_requests(engine.get(), item.requests);
      const std::vector<float> wanted = take_rows(item, DType::f32);
      const TakenArray& got = results[i].at("embedding");
      CHECK(got.type == CARBON_F32);
      REQUIRE(got.bytes.size() == wanted.size() * sizeof(float));
      CHECK(std::memcmp(got.bytes.data(), wanted.data(), got.bytes.size()) == 0);
      CHECK(got.shape[1] == 64);
    }
  }
}

TEST_CASE("carbon.h: generate draws the samples of carbon generate") {
  const GeneratedCheckpoint files(tiny());
  TestEngine engine(files.dir(), 500);
  const ApiModel model(files.dir());
  const std::vector<std::string> prompts = {random_bases(50, 1), "", "ACGTACGT"};
  GenerateOptions options;
  options.length = 31;
  options.samples = 3;
  options.sampler.seed = 7;
  options.sampler.kind = SamplerKind::chain;
  const json asked = {{"length", 31}, {"n", 3}, {"seed", 7}, {"sampler", "chain"}, {"probabilities", true}};
  const auto results = model.ask("generate", asked, prompts, {"sequence", "logp", "probabilities"});
  REQUIRE(results.size() == 9);
  const PromptPlanner planner(engine.get().config(), nullptr, options);
  for (size_t i = 0; i < prompts.size(); ++i) {
    Prompt prompt = prompts[i].empty() ? planner.plan_unconditional() : planner.plan(i, {"p", prompts[i]});
    prompt.record = i;
    emit_samples(std::make_shared<const Prompt>(std::move(prompt)), {0, 3}, options.sampler, 1,
                 [&](const SampleItem& item) {
                   run_requests(engine.get(), item.requests);
                   const TakenResult& got = results[3 * i + item.sample];
                   CHECK(got.at("sequence").bytes == new_bases(*item.requests.back()));
                   CHECK(got.at("logp").f64() == item.requests.back()->logp);
                   CHECK(got.at("probabilities").shape == std::vector<int64_t>{31, 4});
                 });
  }
  // Without probabilities the bases are the same.
  json plain = asked;
  plain.erase("probabilities");
  const auto again = model.ask("generate", plain, prompts, {"sequence", "logp"});
  for (size_t i = 0; i < again.size(); ++i) CHECK(again[i].at("sequence") == results[i].at("sequence"));
}

TEST_CASE("carbon.h: predict has the numbers of carbon predict, and a head serves no other verb") {
  const GeneratedCheckpoint files(tiny("--labels 3 --problem-type regression"));
  const ApiModel model(files.dir());
  LoadedModel loaded([&] {
    ModelOptions options;
    options.model = files.dir();
    options.threads = 2;
    options.use = ModelUse::labels;
    return options;
  }());
  Engine engine({&loaded});
  const LabelValues labels(loaded.checkpoint(), {}, silent_log());
  const Predictor predictor(loaded.config(), labels, {}, StrandChoice::both);
  const std::vector<std::string> sequences = {random_bases(100, 1), random_bases(600, 2)};
  const auto results = model.ask("predict", {{"strand", "both"}}, sequences, {"values"});
  REQUIRE(results.size() == 2);
  for (size_t i = 0; i < sequences.size(); ++i) {
    const PredictItem item = predictor.plan("s", sequences[i]);
    run_requests(engine, item.requests);
    const std::vector<double> wanted = predictor.values(item);
    REQUIRE(results[i].at("values").size() == wanted.size());
    for (size_t j = 0; j < wanted.size(); ++j) CHECK(results[i].at("values").f64(j) == wanted[j]);
  }
  carbon_call* call = nullptr;
  CHECK(carbon_call_new(model.model, "score", nullptr, &call) == CARBON_E_MODEL);
  CHECK(std::string(carbon_error_text()) != "");
}

TEST_CASE("carbon.h: eight threads get the bits that each of them gets alone") {
  const GeneratedCheckpoint files(tiny());
  const ApiModel model(files.dir());
  const std::vector<std::string> sequences = some_sequences();
  struct Task {
    const char* verb;
    json options;
    std::vector<std::string> names;
  };
  const std::vector<Task> tasks = {{"score", {{"strand", "both"}}, {"sum_logp", "logp"}},
                                   {"score", {{"level", "token"}}, {"logp"}},
                                   {"scan", {{"context", 600}}, {"logp"}},
                                   {"generate", {{"length", 40}, {"n", 2}}, {"sequence", "logp"}}};
  const auto inputs_of = [&](const Task& task) {
    return std::string(task.verb) == "generate" ? std::vector<std::string>{random_bases(60, 4), "ACGT"}
                                                : sequences;
  };
  std::vector<std::vector<TakenResult>> alone, together(8);
  for (const Task& task : tasks)
    alone.push_back(model.ask(task.verb, task.options, inputs_of(task), task.names));
  std::vector<std::thread> threads;
  for (size_t i = 0; i < 8; ++i)
    threads.emplace_back([&, i] {
      const Task& task = tasks[i % tasks.size()];
      together[i] = model.ask(task.verb, task.options, inputs_of(task), task.names);
    });
  for (std::thread& thread : threads) thread.join();
  for (size_t i = 0; i < 8; ++i) CHECK(together[i] == alone[i % tasks.size()]);
}
