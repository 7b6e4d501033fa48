// The verbs at their doors: which settings each door takes, and that HTTP and libcarbon give the same bits.
#include <doctest/doctest.h>

#include <iostream>
#include <set>

#include "src/base/words.hpp"
#include "src/cli/commands.hpp"
#include "src/serve/endpoints.hpp"
#include "src/serve/verb_work.hpp"
#include "src/verbs/fields.hpp"
#include "test/unit/api_calls.hpp"
#include "test/unit/generated_checkpoint.hpp"
#include "test/unit/genome_files.hpp"
#include "test/unit/serve_running.hpp"

using namespace carbon;
using namespace carbon::test;
using nlohmann::json;
using nlohmann::ordered_json;

namespace {

struct Doors {
  const char* verb;
  const char* command;
  Run (*declare)(CommandLine&);
  bool plugin;  // is there a function for plugins?
};
constexpr Doors kDoors[] = {{"score", "score", declare_score, true},
                            {"variants", "vep", declare_vep, true},
                            {"scan", "scan", declare_scan, false},
                            {"embed", "embed", declare_embed, false},
                            {"predict", "predict", declare_predict, false},
                            {"generate", "generate", declare_generate, true},
                            {"annotate", "annotate", declare_annotate, false}};

// What the table has of a setting at a door: "yes", or why not.
std::string cell(const Doors& doors, const Setting& setting, Door door) {
  if (door == Door::plugin && !doors.plugin) return "no function";
  const std::string* const reason = setting.missing_at(door);
  return reason ? *reason : "yes";
}

}  // namespace

TEST_CASE("each setting of a verb is at each door, or the table says why not") {
  REQUIRE(verb_table().size() == std::size(kDoors));
  std::cout << "verb\tsetting\tcommand\thttp\tlibrary\tplugin\tmcp\n";
  for (const Doors& doors : kDoors) {
    const VerbEntry* const verb = find_verb(doors.verb);
    REQUIRE(verb);
    CommandLine line(doors.command);
    doors.declare(line);
    std::set<std::string> names;
    size_t shown = 0;
    verb->describe([&](const SettingList& settings) {
      for (const Setting& setting : settings) {
        CAPTURE(setting.name);
        ++shown;
        CHECK(names.insert(setting.name).second);
        CHECK(setting.help.size() > 5);
        std::cout << doors.verb << '\t' << setting.name;
        for (const auto& [word, door] : kDoorWords) {
          const std::string text = cell(doors, setting, door);
          CHECK(text.size() > 2);
          std::cout << '\t' << text;
        }
        std::cout << '\n';
        const Option* const option = line.find("--" + setting.name);
        CHECK((option != nullptr) == !setting.missing_at(Door::command));
      }
    });
    for (const Door door : {Door::http, Door::library}) {
      const ordered_json properties = request_schema(*verb, door, ordered_json::object())["properties"];
      CHECK(properties.size() > 3);
      CHECK(properties.size() <= shown);
      for (const auto& property : properties.items()) CHECK(property.value().contains("description"));
    }
  }
}

namespace {

struct Case {
  const char* verb;
  json settings;
  std::vector<std::string> inputs;
};

// The body of a request with these settings and inputs, and who answers it.
json body_of(const Case& c) {
  json body = c.settings;
  const std::string verb = c.verb;
  if (verb == "scan") body["sequence"] = c.inputs.at(0);
  if (verb == "generate") body["prompt"] = c.inputs.at(0);
  if (verb == "variants")
    for (const std::string& row : c.inputs)
      body["variants"].push_back(row.front() == '{' ? json::parse(row) : json(row));
  if (!body.contains("sequence") && !body.contains("prompt") && !body.contains("variants"))
    body["sequences"] = c.inputs;
  return body;
}

WorkPtr make_work(const std::string& verb, const ServedModel& served, HttpExchangePtr exchange) {
  if (verb == "score") return make_dna_score(served, std::move(exchange));
  if (verb == "scan") return make_dna_scan(served, nullptr, std::move(exchange));
  if (verb == "embed") return make_dna_embed(served, std::move(exchange));
  if (verb == "predict") return make_dna_predict(served, std::move(exchange));
  if (verb == "generate") return make_dna_generate(served, std::move(exchange));
  if (verb == "annotate") return make_dna_annotate(served, std::move(exchange));
  return make_dna_variants(served, nullptr, std::move(exchange));
}

template <class T>
std::vector<T> values_of(const TakenArray& array) {
  std::vector<T> values(array.size());
  std::memcpy(values.data(), array.bytes.data(), array.bytes.size());
  return values;
}

// An array of libcarbon as JSON. What the number of dimensions does not tell, append_json() tests.
std::string json_of(const TakenArray& taken) {
  Array::Data data = taken.bytes;
  if (taken.type == CARBON_F64) data = values_of<double>(taken);
  if (taken.type == CARBON_F32) data = values_of<float>(taken);
  if (taken.type == CARBON_I64) data = values_of<int64_t>(taken);
  std::string text;
  const auto size = [&](size_t i) { return static_cast<size_t>(taken.shape[i]); };
  if (taken.shape.empty()) append_json(Array("", std::move(data), {}), text);
  if (taken.shape.size() == 1) append_json(Array("", std::move(data), {size(0)}), text);
  if (taken.shape.size() == 2) append_json(Array("", std::move(data), {size(0), size(1)}), text);
  return text;
}

std::vector<std::string> arrays_of(const Case& c) {
  const std::string verb = c.verb;
  const bool letters = c.settings.contains("probabilities");
  if (verb == "score" && letters)
    return {"n_scored", "sum_logp", "mean_logp", "logp", "probabilities", "entropy"};
  if (verb == "score") return {"n_scored", "sum_logp", "mean_logp", "logp"};
  if (verb == "scan") return {"logp"};
  if (verb == "embed") return {"embedding"};
  if (verb == "annotate" && c.settings.contains("gff3")) return {"plus", "minus", "gff3"};
  if (verb == "annotate") return {"plus", "minus"};
  if (verb == "generate" && letters) return {"sequence", "logp", "probabilities"};
  if (verb == "generate") return {"sequence", "logp"};
  return {"values"};
}

// The results of an answer: objects with the members that arrays_of() names.
json results_of(const Case& c, const json& answer) {
  if (std::string(c.verb) == "scan") return json::array({answer});
  json results = answer[std::string(c.verb) == "generate" ? "samples" : "results"];
  if (std::string(c.verb) == "variants")
    for (json& result : results)
      if (!result.contains("values")) result["values"] = json::array({result["score"]});
  return results;
}

std::string with_gap(std::string bases) {
  return bases.replace(bases.size() / 3, 20, 20, 'N');
}

}  // namespace

namespace {

// Asks both doors, and compares all arrays.
void compare_doors(const std::string& dir, const std::vector<Case>& cases) {
  RunningService server(dir);
  const ApiModel model(dir);
  for (const Case& c : cases) {
    CAPTURE(c.verb);
    CAPTURE(c.settings.dump());
    const std::vector<std::string> names = arrays_of(c);
    const std::vector<TakenResult> taken = model.ask(c.verb, c.settings, c.inputs, names);
    const json answer =
        server.ask([&](const ServedModel& served,
                       HttpExchangePtr exchange) { return make_work(c.verb, served, std::move(exchange)); },
                   body_of(c));
    const json results = results_of(c, answer);
    REQUIRE(results.size() == taken.size());
    for (size_t i = 0; i < taken.size(); ++i)
      for (const std::string& name : names) {
        CAPTURE(name);
        // Numbers are written so that they read back exactly.
        CHECK(results[i].at(name) == json::parse(json_of(taken[i].at(name))));
      }
  }
}

}  // namespace

TEST_CASE("HTTP and libcarbon give the same bits for annotate") {
  const GeneratedCheckpoint files(
      "--preset generanno --hidden 64 --layers 2 --heads 4 --kv-heads 2 --head-dim 16 --intermediate 96 "
      "--max-positions 64");
  const std::vector<std::string> many = {random_bases(700, 1),           "",  "NNN",
                                         with_gap(random_bases(331, 2)), "a", random_bases(3000, 3)};
  compare_doors(files.dir(),
                {{"annotate", json::object(), many},
                 {"annotate", {{"window", 120}, {"overlap", 60}, {"gff3", true}}, many},
                 {"annotate",
                  {{"gff3", true}, {"genes", "runs"}, {"min_cds_length", 9}, {"stair_inward_shift", 12}},
                  many},
                 {"annotate",
                  {{"gff3", true}, {"gene_cost", 0}, {"min_cds", 0}, {"min_score", 0}, {"introns", "no"}},
                  many}});
}

TEST_CASE("HTTP and libcarbon give the same bits for each verb and setting") {
  const GeneratedCheckpoint files(tiny());
  const std::string gap = with_gap(random_bases(331, 2)), gene = random_bases(997, 4);
  const std::vector<std::string> many = {random_bases(700, 1), "", "NNN", gap, "a", random_bases(30'000, 3)};
  const auto row = [&](size_t pos, const std::string& ref, const std::string& alt) {
    return json{{"pos", pos}, {"ref", ref.empty() ? gene.substr(pos - 1, 1) : ref}, {"alt", alt}}.dump();
  };
  const std::vector<std::string> rows = {
      row(100, "", "A"),
      row(101, "", "C"),
      row(500, gene.substr(499, 3), "T"),
      row(990, "", "GG"),
      row(3, "", "<DEL>"),
      json{{"pos", 50}, {"ref", gene.substr(49, 1)}, {"alt", "<DEL>"}, {"end", 56}}.dump(),
      json{{"pos", 60}, {"ref", gene.substr(59, 1)}, {"alt", "<INV>"}, {"info", {{"SVLEN", "5"}}}}.dump(),
      "120 " + gene.substr(119, 1) + ">T"};
  const std::vector<Case> cases = {
      {"score", json::object(), many},
      {"score", {{"strand", "both"}, {"window", 240}, {"stride", 60}, {"probabilities", true}}, {gap, gene}},
      {"score", {{"strand", "-"}, {"level", "token"}}, many},
      {"scan", json::object(), {gap}},
      {"scan", {{"strand", "+"}, {"level", "first"}, {"context", 60}}, {gene}},
      {"scan", {{"level", "chain"}, {"frames", 2}}, {gene}},
      {"embed", json::object(), {gene, gap}},
      {"embed", {{"pool", "none"}, {"layer", 1}, {"strand", "-"}, {"pad_tail", true}}, {gap, gene}},
      {"generate",
       {{"length", 50}, {"n", 3}, {"seed", 18446744073709551615U}, {"probabilities", true}},
       {"ACGTA"}},
      {"generate",
       {{"length", 20},
        {"num", 2},
        {"constraint", "RYNNACGT"},
        {"sampler", "chain"},
        {"temperature", 0.5},
        {"top_k", 3},
        {"top_p", 0.9}},
       {""}},
      {"generate",
       {{"length", 60},
        {"gc", {40, 60}},
        {"gc_window", 20},
        {"avoid", {"GAATTC", "CCWGG"}},
        {"no_stop", {"prompt", 2}},
        {"max_homopolymer", 4}},
       {gene}},
      {"generate", {{"length", 9}, {"greedy", true}, {"n", 2}}, {"ACGTACG"}},
      {"variants", {{"sequence", gene}}, rows},
      {"variants",
       {{"sequence", gene}, {"window", 240}, {"level", "token"}, {"strand", "+"}, {"phases", 1}},
       rows},
      {"variants", {{"sequence", gene}, {"recipe", "anchored"}, {"context", 120}, {"horizon", 60}}, rows},
      {"variants", {{"sequence", gene}, {"recipe", "next-token"}, {"context", 240}}, rows}};
  compare_doors(files.dir(), cases);
}
