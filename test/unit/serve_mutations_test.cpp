// Damaged requests get an answer that says what is wrong, and nothing else happens.
#include <doctest/doctest.h>

#include <random>

#include "src/serve/endpoints.hpp"
#include "test/unit/generated_checkpoint.hpp"
#include "test/unit/serve_running.hpp"

using namespace carbon;
using carbon::test::GeneratedCheckpoint;
using carbon::test::KeptExchange;
using carbon::test::RunningService;
using carbon::test::tiny;
using nlohmann::json;

namespace {

WorkPtr scan_of_sequences(const ServedModel& served, HttpExchangePtr exchange) {
  return make_dna_scan(served, nullptr, std::move(exchange));
}

struct Endpoint {
  RunningService::Make make;
  json body;
};

std::vector<Endpoint> endpoints() {
  const auto variants = [](const ServedModel& served, HttpExchangePtr exchange) {
    return make_dna_variants(served, nullptr, std::move(exchange));
  };
  const std::string bases = "ACGTTAGCATCGNATTACAGGAC";
  return {
      {make_completion,
       {{"model", "tiny"},
        {"prompt", {"<dna>ACGTT", "<dna>ACG</dna>"}},
        {"n", 2},
        {"max_tokens", 3},
        {"seed", 1},
        {"temperature", 0.5},
        {"top_p", 0.9},
        {"top_k", 5},
        {"stop", {"ACG", "T"}},
        {"echo", true},
        {"logprobs", 2},
        {"return_token_ids", true}}},
      {make_completion,
       {{"prompt", {0, 7, 4000}},
        {"max_tokens", 4},
        {"stream", true},
        {"stop", "GG"},
        {"logprobs", 1},
        {"stream_options", {{"include_usage", true}}}}},
      {make_embedding,
       {{"input", {"<dna>ACGTACGT", "<dna>TT"}}, {"encoding_format", "base64"}, {"dimensions", 5}}},
      {make_embedding, {{"input", {{0, 7, 8}, {0}}}, {"user", "me"}}},
      {make_dna_score,
       {{"sequences", {bases, "ACGT"}}, {"strand", "both"}, {"level", "bp"}, {"window", 12}, {"stride", 6}}},
      {make_dna_generate,
       {{"prompt", "ACGTACGA"},
        {"length", 9},
        {"n", 2},
        {"seed", 3},
        {"sampler", "chain"},
        {"temperature", 0.7},
        {"top_k", 2},
        {"top_p", 0.8},
        {"constraint", "ACNNR"},
        {"probabilities", true}}},
      {make_dna_generate, {{"length", 13}, {"greedy", true}, {"stream", true}, {"probabilities", true}}},
      {scan_of_sequences,
       {{"sequence", bases}, {"strand", "+"}, {"frames", 6}, {"level", "first"}, {"context", 12}}},
      {variants,
       {{"sequence", bases},
        {"recipe", "anchored"},
        {"strand", "both"},
        {"phases", "auto"},
        {"context", 12},
        {"horizon", 6},
        {"variants",
         {{{"pos", 5}, {"ref", "T"}, {"alt", "G"}}, {{"pos", 9}, {"ref", "AT"}, {"alt", "A"}}}}}}};
}

using Random = std::mt19937;

size_t below(Random& random, size_t n) {
  return random() % n;
}

json strange_value(Random& random) {
  static const json kValues = {nullptr,
                               true,
                               false,
                               0,
                               -1,
                               1,
                               6,
                               1.5,
                               1e300,
                               -0.0,
                               18446744073709551615U,
                               9007199254740993,
                               -9223372036854775807,
                               "",
                               "A",
                               "ACGTACGTACGT",
                               "<dna>",
                               "+",
                               "both",
                               "\xc3\xa9",
                               "NNNNNN",
                               json::array(),
                               json::object(),
                               {1},
                               {"A"},
                               {nullptr},
                               {{"a", 1}},
                               {{0}},
                               {4096, 4097}};
  return kValues[below(random, kValues.size())];
}

// Replaces, removes or adds a value somewhere.
void change_value(json& value, Random& random) {
  const size_t n = value.is_structured() ? value.size() : 0;
  if (n == 0 || below(random, 4) == 0) {
    value = strange_value(random);
    return;
  }
  auto at = value.begin();
  std::advance(at, below(random, n));
  if (below(random, 8) == 0) {
    value.erase(at);
  } else if (below(random, 8) == 0 && value.is_object()) {
    value["x" + at.key()] = strange_value(random);
  } else {
    change_value(*at, random);
  }
}

void change_bytes(std::string& text, Random& random) {
  for (size_t i = 0; i <= below(random, 4) && !text.empty(); ++i) {
    const size_t at = below(random, text.size());
    switch (below(random, 4)) {
      case 0:
        text[at] = static_cast<char>(random());
        break;
      case 1:
        text.erase(at, 1 + below(random, 8));
        break;
      case 2:
        text.insert(at, 1, "{}[]\",:0123456789eE.-ACGTN"[below(random, 26)]);
        break;
      default:
        text += text.substr(at, 20);
    }
  }
}

}  // namespace

TEST_CASE("requests that were damaged end with an answer") {
  const GeneratedCheckpoint files(tiny());
  RequestLimits limits;
  limits.bases = 300;
  limits.items = 5;
  RunningService server(files.dir(), limits);
  const std::vector<Endpoint> all = endpoints();
  for (const Endpoint& endpoint : all) {
    const HttpAnswer answer = server.ask_text(endpoint.make, endpoint.body.dump());
    CAPTURE(answer.body);
    CHECK(answer.status == 200);
  }
  Random random(1);
  size_t answered = 0, refused = 0;
  constexpr size_t kRounds = 125, kTogether = 16;
  for (size_t round = 0; round < kRounds; ++round) {
    std::vector<std::shared_ptr<KeptExchange>> exchanges;
    for (size_t i = 0; i < kTogether; ++i) {
      const Endpoint& endpoint = all[below(random, all.size())];
      json body = endpoint.body;
      const bool bytes = below(random, 3) == 0;
      if (!bytes) change_value(body, random);
      std::string text = body.dump();
      if (bytes) change_bytes(text, random);
      exchanges.push_back(std::make_shared<KeptExchange>(text));
      server.service().take(endpoint.make(server.served(), exchanges.back()));
    }
    for (const auto& exchange : exchanges) {
      const HttpAnswer answer = exchange->wait();
      CAPTURE(exchange->request().body);
      CAPTURE(answer.body);
      const bool expected = answer.status == 200 || answer.status == 400 || answer.status == 404;
      CHECK(expected);
      if (answer.status == 200) {
        ++answered;
        if (answer.content_type == "application/json") CHECK(json::accept(answer.body));
      } else {
        ++refused;
        CHECK_FALSE(json::parse(answer.body)["error"]["message"].get<std::string>().empty());
      }
    }
  }
  CHECK(answered > 100);
  CHECK(refused > 500);
  CHECK(server.service().under_way() <= kTogether);
}
