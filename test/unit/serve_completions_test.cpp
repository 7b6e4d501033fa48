// /v1/completions: texts, what ends them, log-probabilities, streams.
#include "src/serve/endpoints.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "src/generate/requests.hpp"
#include "src/sampling/joint.hpp"
#include "src/serve/completion_request.hpp"
#include "test/unit/serve_running.hpp"
#include "test/unit/test_engine.hpp"

using namespace carbon;
using carbon::test::GeneratedCheckpoint;
using carbon::test::random_bases;
using carbon::test::RunningService;
using carbon::test::TestEngine;
using carbon::test::tiny;
using nlohmann::json;

namespace {

// The texts of the samples of a prompt, as `carbon generate` draws them.
std::vector<std::string> drawn(Engine& engine, const std::string& bases, uint64_t record, size_t length,
                               size_t samples, const SamplerOptions& sampler) {
  GenerateOptions options;
  options.length = length;
  const PromptPlanner planner(engine.config(), nullptr, options);
  const auto prompt = std::make_shared<const Prompt>(planner.plan(record, {"p", bases}));
  std::vector<RequestPtr> requests, last;
  emit_samples(prompt, {0, samples}, sampler, 1, [&](const SampleItem& item) {
    requests.insert(requests.end(), item.requests.begin(), item.requests.end());
    last.push_back(item.requests.back());
  });
  run_requests(engine, requests);
  std::vector<std::string> texts;
  for (const RequestPtr& request : last) texts.push_back(new_bases(*request));
  return texts;
}

// What the events of a choice add up to.
json joined(const std::vector<json>& events, size_t choices) {
  json all = json::array();
  for (size_t i = 0; i < choices; ++i) all.push_back({{"text", ""}, {"finish_reason", nullptr}});
  for (const json& event : events) {
    for (const json& part : event["choices"]) {
      json& choice = all[part["index"].get<size_t>()];
      CHECK(choice["finish_reason"].is_null());
      choice["text"] = choice["text"].get<std::string>() + part["text"].get<std::string>();
      choice["finish_reason"] = part["finish_reason"];
      choice["stop_reason"] = part["stop_reason"];
      for (const char* list : {"tokens", "token_logprobs", "top_logprobs", "text_offset"})
        if (!part["logprobs"].is_null())
          for (const json& one : part["logprobs"][list]) choice["logprobs"][list].push_back(one);
      if (part.contains("token_ids"))
        for (const json& id : part["token_ids"]) choice["token_ids"].push_back(id);
    }
  }
  return all;
}

}  // namespace

TEST_CASE("the samples of /v1/completions are those of carbon generate") {
  const GeneratedCheckpoint files(tiny());
  TestEngine engine(files.dir(), 500);
  RunningService server(files.dir());
  const std::vector<std::string> prompts = {random_bases(60, 1), random_bases(64, 2)};
  SamplerOptions sampler;
  sampler.seed = 7;
  const json answer = server.ask(make_completion, {{"prompt", {"<dna>" + prompts[0], "<dna>" + prompts[1]}},
                                                   {"n", 3},
                                                   {"max_tokens", 5},
                                                   {"seed", 7},
                                                   {"unknown", 1}});
  CHECK(answer["object"] == "text_completion");
  CHECK(answer["model"] == "tiny");
  CHECK(answer["carbon_seed"] == 7);
  CHECK(answer["usage"] == json({{"prompt_tokens", 22}, {"completion_tokens", 30}, {"total_tokens", 52}}));
  REQUIRE(answer["choices"].size() == 6);
  for (size_t p = 0; p < 2; ++p) {
    // The last four bases of the second prompt begin its first new 6-mer.
    const std::vector<std::string> texts = drawn(engine.get(), prompts[p], p, p == 0 ? 30 : 26, 3, sampler);
    for (size_t i = 0; i < 3; ++i) {
      const json& choice = answer["choices"][3 * p + i];
      CHECK(choice["index"] == 3 * p + i);
      CHECK(choice["text"] == texts[i]);
      CHECK(choice["finish_reason"] == "length");
      CHECK(choice["stop_reason"].is_null());
      CHECK(choice["logprobs"].is_null());
    }
  }
  sampler.greedy = true;
  const json greedy = server.ask(
      make_completion, {{"prompt", "<dna>" + prompts[1] + "</dna>"}, {"temperature", 0}, {"top_p", 0.5}});
  CHECK(greedy["choices"][0]["text"] == drawn(engine.get(), prompts[1], 0, 92, 1, sampler)[0]);
  // The seed that was drawn gives the same text again.
  json body = {{"prompt", "<dna>ACGT"}};
  const json first = server.ask(make_completion, body);
  body["seed"] = first["carbon_seed"];
  CHECK(server.ask(make_completion, body)["choices"] == first["choices"]);
}

TEST_CASE("a stop string ends a text inside a 6-mer and is cut off") {
  const GeneratedCheckpoint files(tiny());
  RunningService server(files.dir());
  json body = {{"prompt", "<dna>" + random_bases(62, 3)}, {"max_tokens", 40}, {"seed", 3}};
  const std::string whole = server.ask(make_completion, body)["choices"][0]["text"];
  REQUIRE(whole.size() == 238);
  for (const size_t at : {size_t{0}, size_t{3}, size_t{4}, size_t{17}, size_t{100}, size_t{232}}) {
    for (const bool stream : {false, true}) {
      const std::string stop = whole.substr(at, 6);
      body["stop"] = {"GATTACAGATTACAGATTACA", stop};
      body["stream"] = stream;
      const json choice = stream ? joined(server.events(make_completion, body), 1)[0]
                                 : server.ask(make_completion, body)["choices"][0];
      CHECK(choice["text"] == whole.substr(0, whole.find(stop)));
      CHECK(choice["finish_reason"] == "stop");
      CHECK(choice["stop_reason"] == stop);
    }
  }
  body["stop"] = "NNN";
  body["stream"] = false;
  CHECK(server.ask(make_completion, body)["choices"][0]["text"] == whole);
}

TEST_CASE("stop strings that overlap themselves and one another are found where they end") {
  std::mt19937 random(1);
  const auto letters = [&](size_t most) { return random_bases(1 + random() % most, random(), "AC"); };
  for (int round = 0; round < 2000; ++round) {
    std::vector<std::string> stops;
    for (size_t i = 0; i < 1 + random() % 4; ++i) stops.push_back(letters(9));
    StoppedText stopped(stops);
    std::string text;
    while (!stopped.stopped() && text.size() < 60) {
      text += letters(1);
      size_t held = 0, longest = 0;
      for (const std::string& stop : stops) {
        if (text.ends_with(stop)) longest = std::max(longest, stop.size());
        for (size_t n = 1; n < stop.size(); ++n)
          if (text.ends_with(stop.substr(0, n))) held = std::max(held, n);
      }
      REQUIRE(stopped.add(text.substr(text.size() - 1)) == (longest == 0));
      REQUIRE(stopped.found() == text.substr(text.size() - longest));
      REQUIRE(stopped.text() == text.substr(0, text.size() - longest));
      REQUIRE(stopped.certain() == text.size() - (longest > 0 ? longest : held));
    }
    if (!stopped.stopped()) continue;
    CHECK(!stopped.add("ACAC"));
    CHECK(stopped.text() == text.substr(0, text.size() - stopped.found().size()));
  }
}

TEST_CASE("echo without new 6-mers gives the log-probabilities of the prompt") {
  const GeneratedCheckpoint files(tiny());
  TestEngine engine(files.dir(), 500);
  RunningService server(files.dir());
  const TokenLayout& layout = engine.get().config().layout;
  std::string bases = random_bases(93, 4);
  bases[20] = 'N';
  const std::vector<uint32_t> kmers = encode_kmers(bases.substr(0, 90), layout);
  const auto ranks = std::make_shared<Request>();
  ranks->tokens = {layout.begin()};
  ranks->tokens.insert(ranks->tokens.end(), kmers.begin(), kmers.end() - 1);
  ranks->head = HeadKind::kmer_ranks;
  for (const uint32_t id : kmers)
    ranks->targets.push_back(id == layout.oov() ? kNoKmer : id - layout.kmer0());
  run_requests(engine.get(), {ranks});

  const json body = {{"prompt", "<dna>" + bases}, {"max_tokens", 0},         {"echo", true}, {"logprobs", 2},
                     {"prompt_logprobs", 1},      {"return_token_ids", true}};
  const json answer = server.ask(make_completion, body), choice = answer["choices"][0];
  CHECK(choice["text"] == bases);
  CHECK(answer["usage"]["completion_tokens"] == 0);
  CHECK(choice["prompt_token_ids"].size() == 16);
  CHECK(choice["token_ids"].empty());
  CHECK(choice["prompt_logprobs"].size() == 16);
  CHECK(choice["prompt_logprobs"][0].is_null());
  // One entry for each token of the prompt, as for prompt_logprobs.
  REQUIRE(choice["logprobs"]["tokens"].size() == 16);
  CHECK(choice["logprobs"]["tokens"][0] == "<dna>");
  CHECK(choice["logprobs"]["token_logprobs"][0].is_null());
  CHECK(choice["logprobs"]["top_logprobs"][0].is_null());
  CHECK(choice["logprobs"]["text_offset"][0] == 0);
  for (size_t i = 0; i < 15; ++i) {
    const double* const row = ranks->values().data() + i * kRankWidth;
    const std::string text = bases.substr(i * 6, 6);
    CHECK(choice["logprobs"]["tokens"][i + 1] == text);
    CHECK(choice["logprobs"]["text_offset"][i + 1] == 6 * i);
    if (i == 3) {
      CHECK(choice["logprobs"]["token_logprobs"][i + 1].is_null());
      CHECK(choice["prompt_logprobs"][i + 1].is_null());
      continue;
    }
    CHECK(choice["logprobs"]["token_logprobs"][i + 1] == row[0]);
    const json& top = choice["logprobs"]["top_logprobs"][i + 1];
    CHECK(top[text] == row[0]);
    CHECK(top[kmer_text(static_cast<size_t>(row[2]), kKmerLength)] == row[3]);
    CHECK(top[kmer_text(static_cast<size_t>(row[4]), kKmerLength)] == row[5]);
    const json& entry = choice["prompt_logprobs"][i + 1][std::to_string(kmers[i])];
    CHECK(entry["logprob"] == row[0]);
    CHECK(entry["rank"] == row[1]);
    CHECK(entry["decoded_token"] == text);
  }
}

TEST_CASE("a stream of /v1/completions adds up to the whole answer") {
  const GeneratedCheckpoint files(tiny());
  RunningService server(files.dir());
  for (const bool echo : {false, true}) {
    CAPTURE(echo);
    json body = {{"prompt", {"<dna>" + random_bases(45, 5), "<dna>" + random_bases(12, 6)}},
                 {"n", 2},
                 {"max_tokens", 12},
                 {"seed", 11},
                 {"logprobs", 3},
                 {"echo", echo},
                 {"stop", {"ACGA", "TTT"}},
                 {"return_token_ids", true}};
    const json whole = server.ask(make_completion, body);
    body["stream"] = true;
    body["stream_options"] = {{"include_usage", true}};
    std::vector<json> events = server.events(make_completion, body);
    CHECK(events.back()["choices"].empty());
    CHECK(events.back()["usage"] == whole["usage"]);
    const json choices = joined(events, 4);
    for (size_t i = 0; i < 4; ++i) {
      const json &got = choices[i], &wanted = whole["choices"][i];
      CHECK(got["text"] == wanted["text"]);
      CHECK(got["finish_reason"] == wanted["finish_reason"]);
      CHECK(got["stop_reason"] == wanted["stop_reason"]);
      CHECK(got.value("token_ids", json::array()) == wanted["token_ids"]);
      if (got.contains("logprobs"))
        CHECK(got["logprobs"] == wanted["logprobs"]);
      else
        CHECK(wanted["logprobs"]["tokens"].empty());
    }
  }
}

TEST_CASE("/v1/completions names the field that is wrong") {
  const GeneratedCheckpoint files(tiny());
  RequestLimits limits;
  limits.bases = 200;
  limits.items = 4;
  RunningService server(files.dir(), limits);
  const auto refused = [&](const json& more) {
    json body = {{"prompt", "<dna>ACGT"}, {"max_tokens", 2}};
    body.update(more);
    return server.refused(make_completion, body);
  };
  CHECK(refused({{"prompt", nullptr}}) == "prompt");
  CHECK(refused({{"prompt", "ACGT"}}) == "prompt");
  CHECK(refused({{"prompt", {"<dna>A", 1}}}) == "prompt[1]");
  CHECK(refused({{"prompt", {1.5}}}) == "prompt");
  CHECK(refused({{"prompt", std::vector<std::string>(5, "<dna>A")}}) == "prompt");
  CHECK(refused({{"n", 5}}) == "n");
  CHECK(refused({{"n", "2"}}) == "n");
  CHECK(refused({{"max_tokens", 40}}) == "max_tokens");
  CHECK(refused({{"temperature", -1}}) == "temperature");
  CHECK(refused({{"top_p", 1.5}}) == "top_p");
  CHECK(refused({{"logprobs", 21}}) == "logprobs");
  CHECK(refused({{"stop", {1}}}) == "stop");
  CHECK(refused({{"best_of", 2}}) == "best_of");
  CHECK(refused({{"suffix", "A"}}) == "suffix");
  CHECK(refused({{"stream", 1}}) == "stream");
  CHECK(refused({{"seed", "x"}}) == "seed");
}
