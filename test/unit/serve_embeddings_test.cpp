// Embeddings of the service have the numbers of carbon embed, and metadata stands before the DNA.

#include <doctest/doctest.h>

#include <cstring>

#include "src/embed/run.hpp"
#include "src/model/model_use.hpp"
#include "src/serve/endpoints.hpp"
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

std::vector<float> from_base64(const std::string& text) {
  const std::string letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  uint32_t bits = 0;
  int count = 0;
  for (const char letter : text.substr(0, text.find('='))) {
    bits = bits << 6 | static_cast<uint32_t>(letters.find(letter));
    if ((count += 6) >= 8) bytes += static_cast<char>(bits >> (count -= 8) & 255);
  }
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

}  // namespace

TEST_CASE("/v1/embeddings has the numbers of carbon embed") {
  const GeneratedCheckpoint files(tiny());
  TestEngine engine(files.dir(), 500);
  RunningService server(files.dir());
  const TokenLayout& layout = engine.get().config().layout;
  const std::vector<std::string> inputs = {random_bases(604, 12, "ACGTacgt"), "", "NNNNNN",
                                           random_bases(60, 13)};
  const EmbedPlanner planner(engine.get().config(), {});
  json texts = json::array(), ids = json::array();
  std::vector<std::vector<float>> wanted;
  size_t tokens = 0;
  for (const std::string& input : inputs) {
    texts.push_back("<dna>" + input + (texts.empty() ? "</dna>" : ""));
    EmbedItem item = planner.plan("s", input);
    run_requests(engine.get(), item.requests);
    const std::vector<uint32_t>& all = item.requests[0]->tokens;
    ids.push_back(std::vector<uint32_t>(all.begin(), all.end() - (ids.empty() ? 0 : 1)));
    tokens += all.size();
    wanted.push_back(take_rows(item, DType::f32));
  }
  const json answer = server.ask(make_embedding, {{"input", texts}, {"user", "me"}, {"unknown", 1}});
  CHECK(answer["object"] == "list");
  CHECK(answer["model"] == "tiny");
  CHECK(answer["usage"] == json({{"prompt_tokens", tokens}, {"total_tokens", tokens}}));
  REQUIRE(answer["data"].size() == inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    CHECK(answer["data"][i]["object"] == "embedding");
    CHECK(answer["data"][i]["index"] == i);
    CHECK(answer["data"][i]["embedding"] == json(std::vector<double>(wanted[i].begin(), wanted[i].end())));
  }
  CHECK(server.ask(make_embedding, {{"input", ids}, {"model", "tiny"}}) == answer);
  CHECK(server.ask(make_embedding, {{"input", texts[3]}})["data"][0]["embedding"] ==
        answer["data"][3]["embedding"]);
  for (const size_t n : {size_t{1}, size_t{2}, size_t{3}, size_t{64}}) {
    const json encoded =
        server.ask(make_embedding, {{"input", ids[0]}, {"encoding_format", "base64"}, {"dimensions", n}});
    CHECK(from_base64(encoded["data"][0]["embedding"]) ==
          std::vector<float>(wanted[0].begin(), wanted[0].begin() + static_cast<ptrdiff_t>(n)));
  }
  const auto refused = [&](const json& body) { return server.refused(make_embedding, body); };
  CHECK(refused(json::object()) == "input");
  CHECK(refused({{"input", "ACGT"}}) == "input");
  CHECK(refused({{"input", json::array()}}) == "input");
  CHECK(refused({{"input", {{"a", 1}}}}) == "input");
  CHECK(refused({{"input", {layout.kmer0()}}}) == "");
  CHECK(refused({{"input", "<dna>A"}, {"dimensions", 65}}) == "dimensions");
  CHECK(refused({{"input", "<dna>A"}, {"encoding_format", "hex"}}) == "encoding_format");
  CHECK(refused({{"input", "<dna>" + std::string(30000, 'A')}}) == "");
}

TEST_CASE("metadata stands before the DNA of embeddings and prompts") {
  const GeneratedCheckpoint files(
      "--hidden 64 --layers 2 --heads 4 --kv-heads 2 --head-dim 32 --intermediate 128 --max-positions 64");
  TestEngine engine(files.dir(), 500);
  RunningService server(files.dir());
  const std::string bases = random_bases(48, 14), tag = "<species>fungi";
  std::vector<uint32_t> ids = prefix_ids(engine.model().checkpoint(), tag);
  REQUIRE(ids.size() == 5);
  const std::vector<uint32_t> kmers = encode_kmers(bases, engine.get().config().layout);
  ids.push_back(engine.get().config().layout.begin());
  ids.insert(ids.end(), kmers.begin(), kmers.end());
  const json text = server.ask(make_embedding, {{"input", tag + "<dna>" + bases}});
  CHECK(text["usage"]["prompt_tokens"] == 15);
  CHECK(text == server.ask(make_embedding, {{"input", ids}}));
  CHECK(text["data"] != server.ask(make_embedding, {{"input", "<dna>" + bases}})["data"]);
  // Of the 64 tokens, <dna>, </dna> and the metadata leave 57 6-mers.
  CHECK(server.ask(make_embedding, {{"input", tag + "<dna>" + std::string(342, 'A')}})["data"].size() == 1);
  CHECK(server.refused(make_embedding, {{"input", tag + "<dna>" + std::string(348, 'A')}}) == "");

  const auto sampled = [&](const json& more) {
    json body = {{"prompt", bases}, {"length", 60}};
    body.update(more);
    return server.ask(make_dna_generate, body);
  };
  CHECK(sampled({{"prefix", tag}}) != sampled(json::object()));
}
