// The JSON of carbon bench in a report: its numbers, and documents that are wrong in one place.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "src/report/sections/sections.hpp"
#include "test/unit/model_fixture.hpp"

using namespace carbon;
using model_test::contains;
using model_test::message_of;
using model_test::TempDir;
using nlohmann::json;

namespace {

json spread(double median) {
  return {{"median", median}, {"min", median / 2}, {"max", median * 2}};
}

json test_entry(const std::string& name, double tokens, double share, const std::string& limit) {
  return {{"test", name},
          {"batch", 4},
          {"seconds", spread(0.5)},
          {"tokens_per_s", spread(tokens)},
          {"bases_per_s", spread(6 * tokens)},
          {"of_limit", spread(share)},
          {"limit", limit}};
}

json document() {
  json read = spread(2e10), product = spread(3e11);
  read["unit"] = "bytes/s";
  product["unit"] = "flop/s";
  json vep = test_entry("vep", 300, 0.25, "products");
  vep.erase("batch");
  vep["alts"] = 3;
  vep["variants_per_s"] = spread(1.5);
  return {{"carbon", "0.1.0"},
          {"model", "m"},
          {"parameters", 1.5e6},
          {"dtype", "bf16"},
          {"device", "cpu:avx2"},
          {"cpu", "a CPU"},
          {"threads", 2},
          {"load_seconds", 0.1},
          {"rounds", 3},
          {"limits", {{"read", read}, {"bf16_product", product}}},
          {"tests",
           {test_entry("prefill", 1000, 0.5, "products"), test_entry("decode", 50, 1.25, "reading"), vep}}};
}

Section section_of(const std::string& text) {
  const TempDir dir;
  const auto path = dir.path() / "b.json";
  model_test::write_text(path, text);
  return bench_section("b", path.string(), {});
}

const Figure& figure_of(const Section& section, std::string_view name) {
  for (const auto& part : section.parts)
    if (const auto* figure = std::get_if<Figure>(&part); figure && figure->name == name) return *figure;
  throw std::runtime_error("no figure " + std::string(name));
}

std::string refusal_of(const json& changed) {
  return message_of([&] { section_of(changed.dump()); });
}

}  // namespace

TEST_CASE("report bench: the figures have the numbers of the file") {
  const Section section = section_of(document().dump());
  const Figure& speed = figure_of(section, "b_speed");
  using Row = std::vector<std::string>;
  REQUIRE(speed.numbers.rows.size() == 3);
  CHECK(speed.numbers.rows[0] ==
        Row{"prefill", "1000", "500", "2000", "6000", "3000", "12000", ".", ".", ".", "0.5", "0.25", "1"});
  CHECK(speed.numbers.rows[2][0] == "vep, alternative alleles: 3");
  CHECK(speed.numbers.rows[2][7] == "1.5");
  const Figure& share = figure_of(section, "b_share");
  CHECK(share.numbers.rows[1] == Row{"decode, 4 at a time", "125", "62.5", "250", "reading"});
  CHECK(contains(share.caption, "Above 100 %"));
  CHECK(json::parse(share.multiqc)["data"]["prefill"]["products"] == 50.0);
  CHECK(figure_of(section, "b_memory").numbers.rows[0] == Row{"reading memory", "20", "10", "40", "read"});
  CHECK(figure_of(section, "b_arithmetic").numbers.rows[0] ==
        Row{"matrix product, bf16", "300", "150", "600", "bf16_product"});
  const std::vector<std::pair<std::string, std::string>> wanted = {{"Program", "carbon 0.1.0"},
                                                                   {"Model", "m"},
                                                                   {"Parameters", "1.5 million"},
                                                                   {"Data type", "bf16"},
                                                                   {"Device", "cpu:avx2"},
                                                                   {"CPU", "a CPU"},
                                                                   {"Threads", "2"},
                                                                   {"Ready after", "0.1 s"},
                                                                   {"Rounds", "3"}};
  CHECK(std::vector(section.provenance.begin() + 1, section.provenance.end()) == wanted);
}

TEST_CASE("report bench: without limits, with names that occur twice or are long, all zero") {
  json changed = document();
  changed["limits"] = json::object();
  changed["tests"] = {test_entry("prefill", 0, 0, "reading"), test_entry("prefill", 0, 0, "reading"),
                      test_entry(std::string(5000, 'x') + "<script>", 0, 0, "products")};
  const Section section = section_of(changed.dump());
  CHECK(section.parts.size() == 2);
  const Figure& speed = figure_of(section, "b_speed");
  CHECK(speed.numbers.rows[1][0] == "prefill (2)");
  CHECK(speed.svg.size() < 20000);
  CHECK_FALSE(contains(speed.svg, "nan"));
  CHECK_FALSE(contains(speed.svg, "inf"));
}

TEST_CASE("report bench: names are text in pictures") {
  json changed = document();
  changed["tests"][0]["test"] = "<script>&\"'";
  const Section section = section_of(changed.dump());
  CHECK(contains(figure_of(section, "b_speed").svg, "&lt;script&gt;&amp;&quot;&#39;"));
  CHECK_FALSE(contains(figure_of(section, "b_speed").svg, "<script"));
}

TEST_CASE("report bench: every missing member and every wrong type is named") {
  const json good = document();
  for (const auto& [key, value] : good.items()) {
    json changed = good;
    changed.erase(key);
    CHECK(contains(refusal_of(changed), "'" + key + "'"));
    changed[key] = nullptr;
    CHECK(contains(refusal_of(changed), "b.json: " + key + ": expected"));
  }
  for (const auto& [key, value] : good["tests"][2].items()) {
    if (key == "variants_per_s" || key == "alts" || key == "limit") continue;
    json changed = good;
    changed["tests"][2].erase(key);
    CHECK(contains(refusal_of(changed), "b.json: tests[2]: expected a member '" + key + "'"));
  }
  const auto refused = [&](const char* at, const json& value, const std::string& words) {
    json changed = good;
    changed[json::json_pointer(at)] = value;
    const std::string message = refusal_of(changed);
    CHECK_MESSAGE(contains(message, words), at << ": " << message);
    CHECK(message.find('\n') == std::string::npos);
  };
  refused("/tests", json::array(), "array of 1 to 200 tests");
  refused("/tests", json::object(), "array");
  refused("/tests", json(std::vector<int>(201)), "array of 1 to 200 tests");
  refused("/tests/0", 3, "tests[0]: expected an object");
  refused("/tests/0/test", 3, "a text");
  refused("/tests/1/batch", -1, "a whole number");
  refused("/tests/2/alts", "3", "a whole number");
  refused("/tests/0/limit", "luck", "'reading' or 'products'");
  refused("/tests/0/seconds", 1, "an object");
  refused("/tests/0/seconds/median", "1", "a number");
  refused("/tests/0/seconds/min", -1, "not negative");
  refused("/tests/0/seconds/max", 1e305, "not negative");
  refused("/tests/0/seconds/min", 0.6, "between min and max");
  refused("/tests/2/variants_per_s", "x", "variants_per_s");
  refused("/limits", json::array(), "an object");
  refused("/limits/read", 1, "limits: read: expected an object");
  refused("/limits/read/unit", "furlongs", "'bytes/s' or 'flop/s'");
  refused("/threads", -2, "a whole number");
  CHECK(contains(message_of([] { section_of("[1, 2]"); }), "expected an object"));
  CHECK(contains(message_of([] { section_of("{\"tests\": "); }), "not valid JSON"));
  CHECK(contains(message_of([] { section_of(std::string(5 << 20, ' ')); }), "larger than"));
}
