// Calls of carbon.h one after the other, complete, cancelled, failed and freed early, on models that are
// opened and closed between them. What they leave behind, a build with AddressSanitizer finds (make
// check-sanitized).
#include <doctest/doctest.h>

#include <random>
#include <thread>

#include "test/unit/api_calls.hpp"
#include "test/unit/genome_files.hpp"
#include "test/unit/model_fixture.hpp"

using namespace carbon::test;
using model_test::json;

namespace {

constexpr int kRounds = 100;

std::string some_bases(std::mt19937& random, size_t most) {
  std::string bases(1 + random() % most, 'A');
  for (char& base : bases) base = "ACGT"[random() % 4];
  return bases;
}

// A use of each verb that works.
struct Use {
  const char* verb;
  json options;
  bool of_head;
};

std::vector<Use> uses(const std::string& fasta) {
  const json scale = {{"a", {{"mean", 1}, {"std", 2}}}, {"b", {{"mean", 0}, {"std", 1}}}};
  return {{"score", {{"strand", "both"}, {"probabilities", true}}, false},
          {"variants", {{"fasta_ref", fasta}, {"recipe", "next-token"}, {"context", 60}}, false},
          {"variants", {{"sequence", std::string(90, 'A')}, {"window", 60}}, false},
          {"scan", {{"context", 60}}, false},
          {"scan", {{"fasta_ref", fasta}, {"context", 60}}, false},
          {"embed", {{"pool", "none"}}, false},
          {"generate", {{"length", 40}, {"n", 3}, {"probabilities", true}, {"gc", {20, 80}}}, false},
          {"predict", {{"labels", {"a", "b"}}, {"label_scale", scale}, {"pad_tail", true}}, true}};
}

std::string input_for(const Use& use, std::mt19937& random) {
  const bool fasta = use.options.contains("fasta_ref");
  if (std::string(use.verb) == "scan" && fasta) return "c:11-60";
  if (std::string(use.verb) != "variants") return some_bases(random, 120);
  json variant = {{"pos", 1 + random() % 80}, {"ref", "A"}, {"alt", some_bases(random, 3)}};
  if (fasta) variant["chrom"] = "c";
  return variant.dump();
}

// One call, which ends in one of several ways. The codes of those that end early depend on the time.
void call_once(carbon_model* model, const Use& use, int ending, std::mt19937& random) {
  carbon_call* call = nullptr;
  must(carbon_call_new(model, use.verb, use.options.dump().c_str(), &call));
  for (int i = 0; i < 4; ++i) {
    const std::string input = input_for(use, random);
    must(carbon_call_add(call, input.data(), static_cast<int64_t>(input.size())));
  }
  std::thread other;
  switch (ending) {
    case 0:  // complete
      must(carbon_call_end(call));
      for (int results = 0;; ++results) {
        const int code = carbon_call_next(call, 60'000);
        if (code == CARBON_E_END) {
          CHECK(results == (std::string(use.verb) == "generate" ? 12 : 4));
          break;
        }
        must(code);
      }
      break;
    case 1:  // cancelled, at some time, by another thread
      other = std::thread([&] { carbon_call_cancel(call); });
      while (carbon_call_next(call, 10) == CARBON_OK) continue;
      break;
    case 2:  // an input that cannot be used
      must(carbon_call_add(call, "AC>GT", 5), CARBON_E_INPUT);
      must(carbon_call_next(call, 60'000));
      break;
    default:  // freed while it runs
      break;
  }
  if (other.joinable()) other.join();
  must(carbon_call_free(call));
}

}  // namespace

TEST_CASE("carbon.h: a thousand calls leave nothing behind") {
  const carbon_test::TemporaryDirectory folder;
  const std::string fasta = folder.put("ref.fa", ">c\n" + std::string(100, 'A') + "\n");
  model_test::TestModel bases, head;
  head.config["architectures"] = {"LlamaForSequenceClassification"};
  head.config["id2label"] = {{"0", "one"}, {"1", "two"}};
  head.tensors["score.weight"] = {"BF16", {2, 8}};
  bases.write(folder.file("bases"));
  head.write(folder.file("head"));
  const std::vector<Use> all = uses(fasta);
  std::mt19937 random(1);
  int calls = 0;
  for (int round = 0; round < kRounds; ++round) {
    // The first model is closed while there is a call on it.
    const int threads = 1 + round % 2;
    const ApiModel open(json{{"model", folder.file("bases")}, {"threads", threads}});
    const ApiModel labelled(json{{"model", folder.file("head")}, {"threads", threads}});
    for (const Use& use : all) {
      call_once(use.of_head ? labelled.model : open.model, use, (calls + round) % 4, random);
      ++calls;
    }
    carbon_call* refused = nullptr;
    CHECK(carbon_call_new(open.model, "score", "{\"strand\":\"x\"}", &refused) == CARBON_E_SETTING);
    carbon_call* const left = open.begin("score", {});
    must(carbon_call_add(left, "ACGTACGT", 8));
    must(carbon_model_close(open.model));
    CHECK(carbon_call_next(left, 0) == CARBON_E_HANDLE);
    must(carbon_call_free(left));
    calls += 2;
    char* message = nullptr;
    while (carbon_log_next(&message) == CARBON_OK) carbon_free(message);
  }
  CHECK(calls == 1000);
}
