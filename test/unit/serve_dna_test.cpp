// The endpoints in bases: what they refuse, streams, and variants with their flags. That they have the
// numbers of the commands, verbs_test.cpp and api_test.cpp show.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <thread>

#include "src/serve/endpoints.hpp"
#include "src/serve/verb_work.hpp"
#include "src/vep/variant_scores.hpp"
#include "src/verbs/variant_input.hpp"
#include "test/unit/genome_files.hpp"
#include "test/unit/serve_running.hpp"
#include "test/unit/test_engine.hpp"

using namespace carbon;
using carbon::test::GeneratedCheckpoint;
using carbon::test::KeptExchange;
using carbon::test::RunningService;
using carbon::test::TestEngine;
using carbon::test::tiny;
using carbon_test::TemporaryDirectory;
using nlohmann::json;

namespace {

WorkPtr scan_of_sequences(const ServedModel& served, HttpExchangePtr exchange) {
  return make_dna_scan(served, nullptr, std::move(exchange));
}

// Soft-masked bases among the others.
std::string random_bases(size_t n, unsigned seed) {
  return carbon::test::random_bases(n, seed, "ACGTacgt");
}

std::string with_gap(std::string bases, size_t at, size_t n) {
  return bases.replace(at, n, n, 'N');
}

RunningService::Make variants_on(SharedReference* reference) {
  return [reference](const ServedModel& served, HttpExchangePtr exchange) {
    return make_dna_variants(served, reference, std::move(exchange));
  };
}

// A score of which each sequence takes longer to plan than a turn lasts.
class SlowScore final : public VerbWork {
 public:
  SlowScore(const ServedModel& served, HttpExchangePtr exchange, std::atomic<size_t>& planned)
      : VerbWork("score", served, nullptr, std::move(exchange)), planned_(planned) {}

 private:
  void add_input(size_t index, const Emit& emit) override {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    ++planned_;
    VerbWork::add_input(index, emit);
  }

  std::atomic<size_t>& planned_;
};

// Answers how many sequences were planned before it.
class CountWork final : public Work {
 public:
  CountWork(HttpExchangePtr exchange, const std::atomic<size_t>& planned)
      : Work(std::move(exchange)), planned_(planned) {}

 private:
  void begin() override { answer_json(std::to_string(planned_)); }
  void finished() override {}

  const std::atomic<size_t>& planned_;
};

// NaN is null.
bool equal(const json& value, double number) {
  return std::isnan(number) ? value.is_null() : value.is_number() && value.get<double>() == number;
}

}  // namespace

TEST_CASE("/v1/dna/score names the field that is wrong") {
  const GeneratedCheckpoint files(tiny());
  RequestLimits limits;
  limits.bases = 100;
  limits.items = 3;
  RunningService server(files.dir(), limits);
  const auto refused = [&](const json& body) { return server.refused(make_dna_score, body); };
  CHECK(refused(json::object()) == "sequences");
  CHECK(refused({{"sequences", "ACGT"}}) == "sequences");
  CHECK(refused({{"sequences", {"ACGT", 1}}}) == "sequences[1]");
  CHECK(refused({{"sequences", {"AC1GT"}}}) == "sequences[0]");
  CHECK(refused({{"sequences", {"A", "C", "G", "T"}}}) == "sequences");
  CHECK(refused({{"sequences", {std::string(60, 'A'), std::string(41, 'A')}}}) == "sequences");
  CHECK(refused({{"sequences", {"ACGT"}}, {"strand", "forward"}}) == "strand");
  CHECK(refused({{"sequences", {"ACGT"}}, {"window", 7}}) == "window");
  CHECK(refused({{"sequences", {"ACGT"}}, {"window", -6}}) == "window");
  CHECK(refused({{"sequences", {"ACGT"}}, {"window", 12}, {"stride", 18}}) == "stride");
  CHECK(refused({{"sequences", {"ACGT"}}, {"level", "token"}, {"strand", "both"}}) == "strand");
  CHECK(refused({{"sequences", {"ACGT"}}, {"windows", 12}}) == "windows");
  CHECK(server.ask(make_dna_score, {{"sequences", {"A"}}, {"model", "other"}}, 404)["error"]["param"] ==
        "model");
  CHECK(server.ask(make_dna_score, {{"sequences", {"A"}}, {"model", "tiny"}})["results"].size() == 1);
  CHECK(server.ask(make_dna_score, {{"sequences", json::array()}})["results"].empty());
}

TEST_CASE("windows that overlap too much are refused before they are planned") {
  const GeneratedCheckpoint files(tiny());
  RequestLimits limits;
  limits.bases = 60000;
  RunningService server(files.dir(), limits);
  const std::string bases = random_bases(60000, 5);
  CHECK(server.refused(make_dna_score, {{"sequences", {bases}}, {"window", 24000}, {"stride", 6}}) ==
        "stride");
  CHECK(server.refused(scan_of_sequences, {{"sequence", bases}, {"context", 24564}}) == "context");
}

TEST_CASE("requests that take long to plan keep no other waiting") {
  const GeneratedCheckpoint files(tiny());
  std::atomic<size_t> planned = 0;
  RunningService server(files.dir());
  const auto take_slow = [&](size_t sequences) {
    const auto exchange = std::make_shared<KeptExchange>(
        json{{"sequences", std::vector<std::string>(sequences, "ACGTACGT")}}.dump());
    server.service().take(std::make_shared<SlowScore>(server.served(), exchange, planned));
    return exchange;
  };
  std::vector<std::shared_ptr<KeptExchange>> slow;
  for (size_t i = 0; i < 4; ++i) slow.push_back(take_slow(50));
  const HttpAnswer counted = server.ask_text(
      [&](const ServedModel&, HttpExchangePtr exchange) {
        return std::make_shared<CountWork>(std::move(exchange), planned);
      },
      "");
  CHECK(std::stoul(counted.body) < 150);  // 200 if the others were planned to their end first
  for (const auto& exchange : slow) {
    const json results = json::parse(exchange->wait().body)["results"];
    CHECK(results.size() == 50);
    CHECK(std::all_of(results.begin(), results.end(), [&](const json& one) { return one == results[0]; }));
  }
  // It ends when it is asked to, in the middle of its planning.
  planned = 0;
  const auto stopped = take_slow(2000);
  server.service().drain(0.1);
  CHECK(stopped->wait().status == 503);
  CHECK(planned < 2000);
}

TEST_CASE("a stream of /v1/dna/generate has what the whole answer has") {
  const GeneratedCheckpoint files(tiny());
  RunningService server(files.dir());
  for (const bool probabilities : {false, true}) {
    json body = {{"prompt", random_bases(64, 8)},
                 {"length", 33},
                 {"n", 3},
                 {"seed", 5},
                 {"probabilities", probabilities}};
    const json whole = server.ask(make_dna_generate, body)["samples"];
    body["stream"] = true;
    std::vector<std::vector<std::string>> pieces(3);
    json samples = {json::object(), json::object(), json::object()};
    for (const json& event : server.events(make_dna_generate, body)) {
      const size_t index = event["index"];
      CHECK(samples[index].empty());
      if (event.contains("bases")) {
        CHECK(event.size() == 2);
        pieces[index].push_back(event["bases"]);
        continue;
      }
      CHECK(event["finish_reason"] == "length");
      std::string text;
      for (const std::string& piece : pieces[index]) text += piece;
      samples[index] = {{"sequence", text}, {"logp", event["logp"]}};
      if (probabilities) samples[index]["probabilities"] = event["probabilities"];
    }
    CHECK(samples == whole);
    // Four bases of the prompt begin the first 6-mer.
    REQUIRE(pieces[0].size() == 7);
    CHECK(pieces[0].front().size() == 2);
    CHECK(pieces[0][1].size() == 6);
    CHECK(pieces[0].back().size() == 1);
  }
}

TEST_CASE("/v1/dna/generate names the field that is wrong") {
  const GeneratedCheckpoint files(tiny());
  RequestLimits limits;
  limits.bases = 100;
  limits.items = 3;
  RunningService server(files.dir(), limits);
  const auto refused = [&](const json& more) {
    json body = {{"prompt", "ACGTAC"}, {"length", 10}};
    body.update(more);
    return server.refused(make_dna_generate, body);
  };
  CHECK(refused({{"length", nullptr}}) == "length");
  CHECK(refused({{"length", 0}}) == "length");
  CHECK(refused({{"length", 95}}) == "length");
  CHECK(refused({{"length", 40}, {"n", 3}}) == "length");
  CHECK(refused({{"n", 4}}) == "n");
  CHECK(refused({{"prompt", "<dna>ACGT"}}) == "prompt");
  CHECK(refused({{"prompt", std::string(101, 'A')}}) == "prompt");
  CHECK(refused({{"prompt", "NNN"}}) == "");
  CHECK(refused({{"seed", -1}}) == "seed");
  CHECK(refused({{"seed", 1.5}}) == "seed");
  CHECK(refused({{"temperature", 0}}) == "temperature");
  CHECK(refused({{"greedy", true}, {"temperature", 1}}) == "temperature");
  CHECK(refused({{"greedy", true}, {"top_k", 4}}) == "top_k");
  CHECK(refused({{"greedy", true}, {"top_p", 0.5}}) == "top_p");
  CHECK(refused({{"greedy", 1}}) == "greedy");
  CHECK(refused({{"top_k", 4097}}) == "top_k");
  CHECK(refused({{"top_k", 5}, {"sampler", "marginal"}}) == "top_k");
  CHECK(refused({{"top_p", 0}}) == "top_p");
  CHECK(refused({{"sampler", "beam"}}) == "sampler");
  CHECK(refused({{"constraint", "ACGTACGTACGT"}}) == "length");
  CHECK(refused({{"constraint", "AC!"}}) == "");
  CHECK(refused({{"prefix", "<species>fungi"}}) == "");  // the model has no text
  CHECK(refused({{"max_tokens", 4}}) == "max_tokens");
}

TEST_CASE("/v1/dna/scan names the field that is wrong") {
  const GeneratedCheckpoint files(tiny());
  RequestLimits limits;
  limits.bases = 100;
  RunningService server(files.dir(), limits);
  const auto refused = [&](const json& more) {
    json body = {{"sequence", "ACGTAC"}};
    body.update(more);
    return server.refused(scan_of_sequences, body);
  };
  CHECK(refused({{"sequence", nullptr}}) == "sequence");
  CHECK(refused({{"sequence", std::string(101, 'A')}}) == "sequence");
  CHECK(refused({{"sequence", 5}}) == "sequence");
  CHECK(refused({{"frames", 4}}) == "frames");
  CHECK(refused({{"frames", "6"}}) == "frames");
  CHECK(refused({{"frames", 3}, {"level", "first"}}) == "frames");
  CHECK(refused({{"context", 7}}) == "context");
  CHECK(refused({{"context", 0}}) == "context");
  CHECK(refused({{"context", 600000}}) == "context");
  CHECK(refused({{"level", "bp"}}) == "level");
  CHECK(refused({{"sequences", {"ACGT"}}}) == "sequences");
}

TEST_CASE("/v1/dna/variants has the numbers and flags of carbon vep") {
  const GeneratedCheckpoint files(tiny());
  TestEngine engine(files.dir(), 500);
  RunningService server(files.dir());
  const std::string contig = with_gap(random_bases(1200, 11), 700, 2);
  const TemporaryDirectory folder;
  const std::string path = folder.put("in.fa", ">c\n" + contig + "\n");
  const IndexedFasta fasta(path);
  SharedReference reference{IndexedFasta(path)};
  std::vector<PlacedVariant> variants;
  const auto add = [&](int64_t pos, size_t ref, const std::string& alt) {
    variants.push_back({"c", {pos, contig.substr(static_cast<size_t>(pos), ref), {alt}}});
  };
  for (const int64_t pos : {0, 5, 300, 301, 302, 600, 1199})
    for (const char* alt : {"A", "c", "G", "T"}) add(pos, 1, alt);
  for (const char* alt : {"*", "<DEL>", "N", ".", "G]c:5]", "ACGTA"}) add(400, 1, alt);
  add(500, 60, "A");
  add(310, 3, contig.substr(310, 1));
  add(700, 1, "A");
  variants.push_back({"c", {1200, "A", {"C"}}});
  variants.push_back({"c", {-1, "A", {"C"}}});
  variants.push_back({"c", {650, to_upper(contig.substr(650, 1)) == "A" ? "C" : "A", {"G"}}});
  for (int64_t pos = 100; pos < 700; ++pos) add(pos, 1, "A");
  json placed = json::array(), bare = json::array();
  for (const PlacedVariant& one : variants) {
    bare.push_back({{"pos", one.variant.pos + 1}, {"ref", one.variant.ref}, {"alt", one.variant.alts[0]}});
    placed.push_back(bare.back());
    placed.back()["chrom"] = "c";
  }

  const auto check = [&](const json& fields, const RecipeSettings& settings) {
    CAPTURE(fields.dump());
    json on_file = fields, on_sequence = fields;
    on_file["variants"] = placed;
    on_sequence["variants"] = bare;
    on_sequence["sequence"] = contig;
    const json results = server.ask(variants_on(&reference), on_file)["results"];
    json named = server.ask(variants_on(nullptr), on_sequence)["results"];
    for (json& result : named) result["chrom"] = "c";
    CHECK(named == results);
    REQUIRE(results.size() == variants.size());
    const SitePlanner planner(make_recipes(settings, engine.get().config()), engine.get().config().layout,
                              nullptr);
    score_variants(engine.get(), fasta, planner, variants, [&](size_t i, const VariantScores& wanted) {
      size_t tag = 0;
      for (const char* const name : {"score", "l2", "jsd"}) {
        const bool measured = name != std::string("score");
        const auto measure = measured ? *value_of(kMeasureWords, name) : Measure::llr;
        REQUIRE(results[i].contains(name) == settings.wants(measure));
        if (settings.wants(measure)) CHECK(equal(results[i][name], wanted.values[tag++][0]));
      }
      const std::string flag = flag_name(wanted.flags[0]);
      CHECK(results[i]["flag"] == (flag.empty() ? json() : json(flag)));
    });
  };
  RecipeSettings settings;
  settings.window = 240;
  check({{"window", 240}}, settings);
  settings.strand = StrandChoice::reverse;
  settings.phases = PhaseChoice::all;
  check({{"window", 240}, {"strand", "-"}, {"phases", "6"}, {"recipe", "centered"}}, settings);
  settings = {};
  settings.window = 240;
  settings.measures = {Measure::llr, Measure::l2, Measure::jsd};
  check({{"window", 240}, {"measure", {"jsd", "l2", "llr"}}}, settings);
  settings.measures = {Measure::jsd};
  settings.horizons = {12};
  check({{"window", 240}, {"measure", {"jsd"}}, {"horizon", 12}}, settings);
  settings = {};
  settings.recipes = {"next-token"};
  settings.context = 180;
  settings.strand = StrandChoice::both;
  check({{"recipe", "next-token"}, {"context", 180}, {"strand", "both"}}, settings);
  settings = {};
  settings.recipes = {"anchored"};
  settings.context = 120;
  settings.horizons = {60};
  settings.phases = PhaseChoice::one;
  check({{"recipe", "anchored"}, {"context", 120}, {"horizon", 60}, {"phases", 1}}, settings);

  const json other = {{"chrom", "d"}, {"pos", 1}, {"ref", "A"}, {"alt", "C"}};
  CHECK_THROWS_WITH(
      read_variant("variants[0]", R"({"chrom": "", "pos": 1, "ref": "A", "alt": "C"})", false, {}),
      "variants[0].chrom is empty; give the name of the contig");
  const json known = {{"chrom", "c"}, {"pos", 1}, {"ref", "N"}, {"alt", "C"}};
  const json unknown = server.ask(variants_on(&reference), {{"variants", {other, known}}})["results"];
  json named = other;
  named.update({{"score", nullptr}, {"flag", "no_contig"}});
  CHECK(unknown.front() == named);
  // One contig has to be there.
  CHECK(server.ask(variants_on(&reference), {{"variants", {other, other}}}, 400)["error"]["message"] ==
        "no contig of the variants (d) is in the reference (c)");
}

TEST_CASE("/v1/dna/variants refuses variants of another assembly") {
  const GeneratedCheckpoint files(tiny());
  std::string contig;
  for (int i = 0; i < 60; ++i) contig += "ACGT";
  const TemporaryDirectory folder;
  SharedReference reference{IndexedFasta(folder.put("in.fa", ">c\n" + contig + "\n"))};
  RunningService server(files.dir());
  json wrong = json::array();
  for (int i = 0; i < 3; ++i)
    wrong.push_back({{"chrom", "c"}, {"pos", 4 * i + 41}, {"ref", "C"}, {"alt", "A"}});
  CHECK(server.ask(variants_on(&reference), {{"variants", wrong}}, 400)["error"]["message"] ==
        "wrong assembly? REF differs from the reference in 3 of 3 variants checked; send variants of its "
        "assembly, or raise max_ref_mismatch");
  for (const json& one :
       server.ask(variants_on(&reference), {{"variants", wrong}, {"max_ref_mismatch", 1}})["results"])
    CHECK(one["flag"] == "ref_mismatch");
  CHECK(server.ask(variants_on(&reference), {{"variants", wrong}, {"max_ref_mismatch", 2}},
                   400)["error"]["param"] == "max_ref_mismatch");
}

TEST_CASE("/v1/dna/variants names the field that is wrong") {
  const GeneratedCheckpoint files(tiny());
  RequestLimits limits;
  limits.bases = 100;
  limits.items = 3;
  RunningService server(files.dir(), limits);
  const TemporaryDirectory folder;
  SharedReference reference{IndexedFasta(folder.put("in.fa", ">c\nACGTACGT\n"))};
  const json snv = {{"chrom", "c"}, {"pos", 2}, {"ref", "C"}, {"alt", "T"}};
  const auto refused = [&](const json& more, const json& of_variant = json::object()) {
    json variant = snv;
    variant.update(of_variant);
    json body = {{"variants", json::array({variant})}};
    body.update(more);
    return server.refused(variants_on(&reference), body);
  };
  CHECK(refused({{"variants", nullptr}}) == "variants");
  CHECK(refused({{"variants", 1}}) == "variants");
  CHECK(refused({{"variants", {1}}}) == "variants[0]");
  CHECK(refused({{"variants", {snv, snv, snv, snv}}}) == "variants");
  CHECK(refused({{"sequence", "ACGT"}}) == "variants[0].chrom");
  CHECK(refused(json::object(), {{"chrom", nullptr}}) == "variants[0].chrom");
  CHECK(refused(json::object(), {{"pos", nullptr}}) == "variants[0].pos");
  CHECK(refused(json::object(), {{"pos", -1}}) == "variants[0].pos");
  CHECK(refused(json::object(), {{"ref", ""}}) == "variants[0].ref");
  CHECK(refused(json::object(), {{"alt", "A,C"}}) == "variants[0].alt");
  CHECK(refused(json::object(), {{"alt", std::string(100, 'A')}}) == "variants");
  CHECK(refused(json::object(), {{"id", "rs1"}}) == "variants[0].id");
  CHECK(refused({{"recipe", "centered,anchored"}}) == "recipe");
  CHECK(refused({{"horizon", 12}}) == "horizon");
  CHECK(refused({{"measure", {"l2"}}, {"horizon", 10}}) == "horizon");
  CHECK(refused({{"measure", {"l2"}}, {"level", "bp"}}) == "level");
  CHECK(refused({{"measure", {"l3"}}}) == "measure");
  CHECK(refused({{"measure", "l2"}}) == "measure");
  CHECK(refused({{"measure", {"l2"}}, {"recipe", "anchored"}}) == "measure");
  CHECK(refused({{"recipe", "anchored"}, {"horizon", 1e6}}) == "horizon");
  CHECK(refused({{"window", 13}}) == "window");
  CHECK(refused({{"recipe", "next-token"}, {"context", 1e6}}) == "context");
  CHECK(refused({{"phases", 3}}) == "phases");
  CHECK(refused({{"phases", true}}) == "phases");
  CHECK(refused({{"cache", "x"}}) == "cache");
  CHECK(server.refused(variants_on(nullptr), {{"variants", {snv}}}) == "sequence");
}

TEST_CASE("a FASTA of the server that cannot be read is an error of the server") {
  const GeneratedCheckpoint files(tiny());
  RunningService server(files.dir());
  const TemporaryDirectory folder;
  const std::string path = folder.put("in.fa", ">c\n" + random_bases(60000, 12) + "\n");
  SharedReference reference{IndexedFasta(path)};
  std::filesystem::resize_file(path, 100);
  for (const size_t count : {size_t{1}, size_t{600}}) {  // with and without a whole step
    json variants = json::array();
    for (size_t i = 0; i < count; ++i)
      variants.push_back({{"chrom", "c"}, {"pos", 50000 + i}, {"ref", "A"}, {"alt", "C"}});
    server.ask(variants_on(&reference), {{"variants", variants}}, 500);
  }
}
