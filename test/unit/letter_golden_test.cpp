// The decoder of a Qwen3 with one base a token beside that of transformers.
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "test/unit/letter_checkpoint.hpp"

using namespace carbon;
using carbon::test::GeneratedCheckpoint;
using carbon::test::letter_logps;
using carbon::test::letter_tokens;
using carbon::test::LetterDecoder;

// Made by test/golden/make_letter_goldens.py; test/golden/letter_cases.py says from what.
TEST_CASE("letters: the log-probabilities of transformers") {
  std::ifstream file("test/golden/letters.json");
  const nlohmann::json goldens = nlohmann::json::parse(file);
  for (const auto& [name, entry] : goldens["checkpoints"].items()) {
    CAPTURE(name);
    const GeneratedCheckpoint files(entry["options"].get<std::string>());
    for (const DType type : {DType::f32, DType::bf16}) {
      LetterDecoder model(files.dir(), {type, 2});
      const LetterVocabulary& letters = *model.checkpoint.config().layout.letters;
      const size_t vocab = model.checkpoint.config().vocab;
      double worst = 0;
      for (const auto& [bases, wanted] : entry["sequences"].items()) {
        const std::vector<uint32_t> tokens = letter_tokens(letters, bases);
        const std::vector<float> logits = model.logits(tokens);
        REQUIRE(wanted.size() == tokens.size());
        for (size_t t = 0; t < tokens.size(); ++t) {
          const auto got = letter_logps(letters, &logits[t * vocab]);
          for (size_t i = 0; i < got.size(); ++i)
            worst = std::max(worst, std::abs(got[i] - wanted[t][i].get<double>()));
        }
      }
      MESSAGE(name, " ", std::string(dtype_name(type)), ": worst base ", worst, " nats");
      CHECK(worst <= (type == DType::f32 ? 2e-4 : 2 * entry["bf16_error"].get<double>()));
    }
  }
}
