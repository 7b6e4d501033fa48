// Rope scaling that a user asks for: what it accepts, what it makes of a configuration, and what is known of
// the published models.
#include "src/model/config.hpp"

#include <doctest/doctest.h>

#include "src/model/checkpoint.hpp"
#include "test/unit/model_fixture.hpp"

using namespace model_test;
using carbon::ModelConfig;
using carbon::parse_rope_scaling;
using carbon::RopeScaling;

namespace {

ModelConfig applied(ModelConfig config, const std::string& text) {
  carbon::apply_rope_scaling(parse_rope_scaling(text), config);
  return config;
}

ModelConfig published(size_t hidden, size_t layers, size_t heads, size_t max_positions) {
  ModelConfig config;
  config.hidden = hidden;
  config.layers = layers;
  config.heads = heads;
  config.max_positions = max_positions;
  return config;
}

}  // namespace

TEST_CASE("rope scaling: the texts of the option") {
  CHECK_FALSE(parse_rope_scaling("none").yarn);
  CHECK(parse_rope_scaling("yarn:4").factor == 4);
  CHECK(parse_rope_scaling("yarn:1").yarn);
  CHECK(parse_rope_scaling("yarn:2.5").factor == 2.5);
  for (const char* text : {"none", "yarn:4", "yarn:2.5", "yarn:1e+06"})
    CHECK(carbon::rope_scaling_text(parse_rope_scaling(text)) == text);
  for (const char* text : {"", "yarn", "yarn:", "yarn:x", "yarn:0.5", "yarn:-4", "yarn:4x", "yarn:inf",
                           "yarn:nan", "yarn: 4", "linear:2", "None", "yarn:1e999"}) {
    CAPTURE(text);
    CHECK(contains(message_of([&] { parse_rope_scaling(text); }), "yarn:FACTOR"));
  }
}

TEST_CASE("rope scaling: the original context is the model's, and the rest is replaced") {
  ModelConfig plain;
  plain.max_positions = 8192;
  const ModelConfig four = applied(plain, "yarn:4");
  CHECK(four.max_positions == 32768);
  CHECK(four.rope_scaling.original_max_positions == 8192);
  CHECK(four.rope_scaling.factor == 4);
  CHECK(applied(plain, "none").rope_scaling == RopeScaling());
  CHECK(applied(plain, "none").max_positions == 8192);
  CHECK(applied(plain, "yarn:1.3").max_positions == 10649);

  ModelConfig edited = four;
  edited.rope_scaling.attention_factor = 1.5;
  edited.max_positions = 20000;
  CHECK(applied(edited, "yarn:2").max_positions == 16384);
  CHECK(applied(edited, "yarn:4").rope_scaling == four.rope_scaling);
  CHECK(applied(edited, "none").max_positions == 8192);
  CHECK(applied(edited, "none").rope_scaling == RopeScaling());
  CHECK(contains(message_of([&] { applied(plain, "yarn:1e9"); }), "rope scaling yarn:1e+09"));
}

TEST_CASE("rope scaling: what is published of long contexts") {
  const auto warning = [](const ModelConfig& config) { return carbon::long_context_warning(config); };
  const ModelConfig small = published(1024, 28, 16, 8192), medium = published(3072, 30, 32, 32768),
                    large = published(4096, 32, 32, 32768), other = published(128, 4, 4, 8192);
  for (const ModelConfig& config : {small, medium, large, other}) CHECK(warning(config).empty());
  CHECK(contains(warning(applied(small, "yarn:4")), "no long-context training"));
  CHECK(contains(warning(applied(medium, "yarn:4")), "up to 65536 tokens"));
  ModelConfig card = applied(medium, "yarn:4");
  card.max_positions = 65536;  // as in its model card
  CHECK(warning(card).empty());
  CHECK(contains(warning(applied(medium, "yarn:2")), "factor 4"));
  CHECK(warning(applied(large, "yarn:4")).empty());
  CHECK(contains(warning(applied(large, "yarn:8")), "factor 8"));
  CHECK(warning(applied(other, "yarn:4")).empty());
}

TEST_CASE("rope scaling: a checkpoint opened with it has the digest of one whose config.json says so") {
  const TempDir cache, plain_dir, edited_dir;
  const Environment environment("XDG_CACHE_HOME", cache.str());
  TestModel model;
  model.write(plain_dir.path());
  model.config["rope_scaling"] = {
      {"rope_type", "yarn"}, {"factor", 4}, {"original_max_position_embeddings", 64}};
  model.config["max_position_embeddings"] = 256;
  model.write(edited_dir.path());

  const carbon::Checkpoint plain(plain_dir.str()), edited(edited_dir.str()),
      asked(plain_dir.str(), parse_rope_scaling("yarn:4")), undone(edited_dir.str(), RopeScaling()),
      repeated(edited_dir.str(), parse_rope_scaling("yarn:4"));
  CHECK(asked.config().max_positions == 256);
  CHECK(asked.config().rope_scaling == edited.config().rope_scaling);
  CHECK(asked.sha256() == edited.sha256());
  CHECK(undone.sha256() == plain.sha256());
  CHECK(plain.sha256() != edited.sha256());
  CHECK(asked.rope_override() == "yarn:4");
  CHECK(undone.rope_override() == "none");
  CHECK(repeated.rope_override().empty());
  CHECK(plain.rope_override().empty());
}
