// Values of classification heads: the sum in its order, activations and scales, names of labels, and models
// with such a head.
#include "src/pooling/label_values.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "src/embed/predict.hpp"
#include "src/formats/carbon_scores.hpp"
#include "src/model/digest.hpp"
#include "src/model/model_use.hpp"
#include "test/unit/model_fixture.hpp"
#include "test/unit/test_log.hpp"

using namespace carbon;
using carbon::test::TestLog;
using model_test::contains;
using model_test::message_of;
using model_test::TempDir;
using model_test::TestModel;
using Texts = std::vector<std::string>;

namespace {

TestModel with_labels(const std::string& problem_type = "regression", const std::string& dtype = "F32") {
  TestModel model;
  model.config["architectures"] = {"LlamaForSequenceClassification"};
  model.config["id2label"] = {{"0", "K562_scaled"}, {"1", "b-c"}, {"2", "b c"}};
  if (!problem_type.empty()) model.config["problem_type"] = problem_type;
  model.tensors["score.weight"] = {dtype, {3, 8}};
  return model;
}

/// The numbers of score.weight, as model_fixture.hpp writes them.
std::vector<float> score_numbers() {
  const std::string bytes = model_test::pattern("score.weight", 3 * 8 * 4);
  std::vector<float> numbers(24);
  std::memcpy(numbers.data(), bytes.data(), bytes.size());
  return numbers;
}

LabelScaleText scale_text(const std::string& text) {
  return {std::make_shared<const nlohmann::json>(nlohmann::json::parse(text)), "scale"};
}

const std::vector<float> kState = {0.5f, -1.25f, 3e7f, 1e-3f, -3e7f, 2.0f, 0.1f, -0.7f};

}  // namespace

TEST_CASE("labels: a checkpoint with a classification head") {
  const TempDir dir;
  with_labels().write(dir.path());
  const Checkpoint checkpoint(dir.str());
  REQUIRE(checkpoint.config().classifier);
  CHECK(checkpoint.config().classifier->labels == Texts{"K562_scaled", "b-c", "b c"});
  CHECK_FALSE(checkpoint.config().tied_head);
  CHECK(checkpoint.all_bf16());  // score.weight, which is F32, does not count
  CHECK(checkpoint.score().rows == 3);
  CHECK(contains(message_of([&] { checkpoint.head(); }), "no output matrix"));
  CHECK(contains(message_of([&] { check_use(checkpoint, ModelUse::bases); }), "K562_scaled"));
  CHECK_NOTHROW(check_use(checkpoint, ModelUse::labels));
  CHECK_NOTHROW(check_use(checkpoint, ModelUse::states));

  const TempDir plain;
  TestModel().write(plain.path());
  const Checkpoint causal(plain.str());
  CHECK(contains(message_of([&] { check_use(causal, ModelUse::labels); }), "has no classification head"));
  CHECK(contains(message_of([&] { causal.score(); }), "no classification head"));
  CHECK(causal.sha256() != checkpoint.sha256());

  // Tied or not, in one file or several: the same numbers.
  const TempDir untied, sharded, other;
  TestModel model = with_labels();
  model.config["tie_word_embeddings"] = false;
  model.write(untied.path());
  CHECK(Checkpoint(untied.str()).sha256() == checkpoint.sha256());
  model.write_sharded(sharded.path());
  CHECK(Checkpoint(sharded.str()).sha256() == checkpoint.sha256());
  model.tensors["score.weight"].like = "another";
  model.write(other.path());
  CHECK(Checkpoint(other.str()).sha256() != checkpoint.sha256());
}

TEST_CASE("labels: values are sums in a fixed order") {
  const TempDir dir;
  with_labels().write(dir.path());
  TestLog log;
  const LabelValues labels(Checkpoint(dir.str()), {}, log);
  CHECK(labels.names() == Texts{"K562_scaled", "b-c", "b c"});
  CHECK(log.lines().empty());
  const std::vector<float> weights = score_numbers();
  const std::vector<double> values = labels.values(kState);
  REQUIRE(values.size() == 3);
  std::vector<double> sums;
  for (size_t label = 0; label < 3; ++label) {
    double sum = 0;
    for (size_t i = 0; i < 8; ++i) sum += double{kState[i]} * double{weights[label * 8 + i]};
    sums.push_back(sum);
  }
  CHECK(std::memcmp(values.data(), sums.data(), sizeof(double) * 3) == 0);
  CHECK(labels.settings() == Settings{{"activation", "none"}, {"scale", "none"}});

  LabelSettings settings;
  settings.scale = scale_text(R"({"K562_scaled": {"mean": 1, "std": 2}, "b-c": {"mean": -4, "std": 0.5},
                                  "b c": {"mean": 0, "std": 1}})");
  const LabelValues scaled(Checkpoint(dir.str()), settings, log);
  CHECK(scaled.values(kState) == std::vector<double>{sums[0] * 2 + 1, sums[1] * 0.5 - 4, sums[2]});
  CHECK(scaled.settings() == Settings{{"activation", "none"}, {"scale", sha256_hex("1 2\n-4 0.5\n0 1\n")}});
  settings.activation = Activation::sigmoid;
  CHECK(contains(message_of([&] { LabelValues(Checkpoint(dir.str()), settings, log); }), "sigmoid"));
}

TEST_CASE("labels: the activation follows the type of the problem") {
  const auto settings_of = [](const std::string& problem_type, TestLog& log) {
    const TempDir dir;
    with_labels(problem_type).write(dir.path());
    const LabelValues labels(Checkpoint(dir.str()), {}, log);
    const std::vector<double> values = labels.values(std::vector<float>(8, 0.25f));
    double sum = 0;
    for (const double value : values) {
      if (problem_type != "regression" && !problem_type.empty()) CHECK((value >= 0 && value <= 1));
      sum += value;
    }
    if (problem_type == "single_label_classification") CHECK(std::abs(sum - 1) < 1e-12);
    return labels.settings().front().second;
  };
  TestLog log;
  CHECK(settings_of("regression", log) == "none");
  CHECK(settings_of("single_label_classification", log) == "softmax");
  CHECK(settings_of("multi_label_classification", log) == "sigmoid");
  CHECK(log.lines().empty());
  CHECK(settings_of("", log) == "none");
  CHECK(log.has("no problem_type"));
}

TEST_CASE("labels: their names in tables and tags") {
  Pooling pooling;
  LabelSettings labels;
  const Setting setting = label_settings(pooling, labels)[2];
  const auto& list = std::get<Setting::List>(setting.target);
  set_list(setting, list, std::string("a,b c,d"));
  CHECK(labels.labels == Texts{"a", "b c", "d"});
  for (const char* wrong : {"", ",", "a,", ",a", "a,,b"})
    CHECK_THROWS_AS(set_list(setting, list, std::string(wrong)), SettingError);
  set_list(setting, list, Setting::Parts());  // [] in a request
  CHECK(labels.labels.empty());
  CHECK(tag_labels({"A.b_9", "x-y", "\xc3\xa4\xe2\x82\xac", "p/q"}) == Texts{"A.b_9", "x_y", "__", "p_q"});
  CHECK(contains(message_of([] { tag_labels({"b-c", "b c"}); }), "labels b-c and b c are both b_c"));
  const TempDir dir;
  with_labels().write(dir.path());
  TestLog log;
  const Checkpoint checkpoint(dir.str());
  CHECK(LabelValues(checkpoint, {{"t\tb", "l\nf", "c\rr"}, {}, {}}, log).names() ==
        Texts{"t_b", "l_f", "c_r"});
  CHECK(contains(message_of([&] { LabelValues(checkpoint, {{"a", "b"}, {}, {}}, log); }), "has 3"));
  CHECK(contains(message_of([&] {
                   LabelValues(checkpoint, {{"a\t", "a\n", "b"}, {}, {}}, log);
                 }),
                 "both a_"));
}

TEST_CASE("labels: where a scale is found") {
  const auto found = [](const std::string& text, const Texts& labels) {
    std::vector<double> numbers;
    for (const LabelScale& scale : label_scales(scale_text(text), labels))
      numbers.insert(numbers.end(), {scale.mean, scale.std});
    return numbers;
  };
  using Numbers = std::vector<double>;
  CHECK(found(R"({"a": {"mean": 1, "std": 2}, "b": {"mean": 3, "std": 4}})", {"b", "a"}) ==
        Numbers{3, 4, 1, 2});
  CHECK(found(R"({"label_transform": {"a": {"center": 1, "scale": 2}}})", {"a_scaled"}) == Numbers{1, 2});
  CHECK(
      found(R"({"label_transform": {"a": {"center": 1, "scale": 2}, "a_scaled": {"center": 5, "scale": 6}}})",
            {"a_scaled", "a"}) == Numbers{5, 6, 1, 2});
  CHECK(found(R"({"label_stats": {"a_mean": 1, "a_std": 2, "mean": 3}})", {"a"}) == Numbers{1, 2});
  for (const char* wrong :
       {R"({})", R"({"a": 1})", R"({"a": {"mean": 1}})", R"({"a": {"mean": 1, "std": -1}})",
        R"({"a": {"mean": null, "std": 1}})", R"({"label_stats": {"a_mean": 1}})",
        R"({"label_transform": 7})", R"({"label_transform": {"a": {"center": 1}}})",
        R"({"label_stats": {"b_mean": 1, "b_std": 1}})"})
    CHECK(contains(message_of([&] { found(wrong, {"a"}); }), "label a"));
}

TEST_CASE("labels: tags of heads have no known direction") {
  CarbonModels models;
  models.add("##carbon_vepModel=<ID=CARBON_HEAD_K562,Model=\"m\",Recipe=head>");
  models.add("##carbon_vepModel=<ID=CARBON_HEAD_x_LLR,Model=\"m\",Recipe=head>");
  for (const char* tag :
       {"CARBON_HEAD_K562", "CARBON_HEAD_x_LLR", "CARBON_HEAD_K562_LLR", "CARBON_HEAD_y_NT"})
    CHECK_FALSE(models.low_is_damaging(tag, "Carbon x"));
  CHECK(score_prefix("CARBON_HEAD_x_LLR") == "CARBON_HEAD_x_LLR");
}

TEST_CASE("labels: numbers and truth values are names") {
  const auto labels_of = [](const nlohmann::json& id2label) {
    TestModel model = with_labels();
    model.config["id2label"] = id2label;
    const TempDir dir;
    model.write(dir.path());
    return Checkpoint(dir.str()).config().classifier->labels;
  };
  CHECK(labels_of({{"0", 0}, {"1", 1}, {"2", 2}}) == std::vector<std::string>{"0", "1", "2"});
  CHECK(labels_of({{"0", -0.5}, {"1", true}, {"2", "x"}}) == std::vector<std::string>{"-0.5", "true", "x"});
  CHECK(labels_of({{"0", nullptr}, {"1", "a"}, {"2", "b"}}) == std::vector<std::string>{"", "a", "b"});
  CHECK(contains(message_of([&] {
                   labels_of({{"0", nlohmann::json::array()}, {"1", 1}, {"2", 2}});
                 }),
                 "neither text nor number for number 0"));
}
