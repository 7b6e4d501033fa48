// Header lines that say what made an output, and the same as JSON.
#include "src/formats/provenance.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "src/base/settings.hpp"
#include "src/formats/carbon_scores.hpp"
#include "test/unit/model_fixture.hpp"

using namespace carbon;
using model_test::message_of;
using model_test::TempDir;
using model_test::write_text;

namespace {

std::string field(const std::string& settings, const std::string& name) {
  return header_field(header_fields("##x=<" + settings + ">"), name);
}

const std::vector<std::string> kLines = {"##carbon_embedVersion=1",
                                         "##carbon_embedCommand=embed 'a b'; Date=x",
                                         "##carbon_embedModel=<ID=embeddings,Model=\"m\",Bounds=\"a, b>\">"};

}  // namespace

TEST_CASE("settings of a header line: words as they are, other values in quotation marks") {
  CHECK(header_text({{"level", "bp"}, {"pad-tail", "no"}, {"top-k", "-1"}, {"strand", "+"}}) ==
        "Level=bp,PadTail=no,TopK=-1,Strand=+");
  for (const std::string text :
       {"", "a b", "a,b", "a>b", "a\"b", "a\\", "\\\"", "<mam>", "a=b", "\xff \xfe"}) {
    const std::string settings = header_text({{"bounds", text}, {"seed", "7"}});
    CHECK(settings.starts_with("Bounds=\""));
    CHECK(field(settings, "Bounds") == text);
    CHECK(field(settings, "Seed") == "7");
  }
  // What would end the line is written in another way, and no two texts in the same.
  CHECK(quoted_field("a\nb\r\x7f") == "\"a%0Ab%0D%7F\"");
  CHECK(quoted_field("a%0Ab") == "\"a%250Ab\"");
}

TEST_CASE("version lines are left out on request, the model never is") {
  const std::string model = "##carbon_scoreModel=<ID=logp>";
  const std::vector<std::string> lines = provenance_lines("score", {"score a.fa", false}, {model});
  REQUIRE(lines.size() == 3);
  CHECK(lines[0].starts_with("##carbon_scoreVersion="));
  CHECK(lines[1].starts_with("##carbon_scoreCommand=score a.fa; Date="));
  CHECK(lines[2] == model);
  CHECK(provenance_lines("score", {"score a.fa", true}, {model}) == std::vector<std::string>{model});
}

TEST_CASE("header lines as JSON, and back") {
  const std::string json = provenance_json(kLines);
  CHECK(json.find("\"carbon_embedModel\": {\n    \"ID\": \"embeddings\",\n    \"Model\": \"m\",\n    "
                  "\"Bounds\": \"a, b>\"\n  }") != std::string::npos);
  CHECK(json.ends_with("}\n"));
  CHECK(provenance_strings(kLines) ==
        "{\"carbon_embedVersion\":\"1\",\"carbon_embedCommand\":\"embed 'a b'; Date=x\","
        "\"carbon_embedModel\":\"<ID=embeddings,Model=\\\"m\\\",Bounds=\\\"a, b>\\\">\"}");
  CHECK(provenance_of_json(provenance_strings(kLines), "x") == kLines);
  const std::vector<std::string> back = provenance_of_json(json, "x");
  REQUIRE(back.size() == 3);
  CHECK(back[0] == kLines[0]);
  CHECK(back[1] == kLines[1]);
  for (const char* name : {"ID", "Model", "Bounds"})
    CHECK(header_field(header_fields(back[2]), name) == header_field(header_fields(kLines[2]), name));

  CHECK(provenance_json({"##carbon_embedCommand=\xff\"\t"}) ==
        "{\n  \"carbon_embedCommand\": \"\xef\xbf\xbd\\\"\\t\"\n}\n");
  for (const char* other : {"[]", "1", "{}", R"({"carbon_x":"a"})", R"({"Version":"1"})",
                            R"({"carbon_embedModel":[1],"carbon_embedVersion":2})"})
    CHECK(provenance_of_json(other, "x").empty());
  CHECK(!message_of([] { provenance_of_json("{", "x.json"); }).empty());
}

TEST_CASE("a file that is not such JSON is kept") {
  const TempDir dir;
  const std::string path = (dir.path() / "x.json").string();
  const auto message = [&] { return message_of([&] { check_provenance_file("embed", path); }); };
  CHECK_NOTHROW(check_provenance_file("embed", path));
  for (const char* text : {"", "{", "{}", "{\"a\":\"carbon_embedVersion\"}"}) {
    write_text(path, text);
    CHECK(message().find("x.json exists") != std::string::npos);
    CHECK(provenance_of_file(path).empty());
  }
  write_text(path, provenance_json(kLines));
  CHECK_NOTHROW(check_provenance_file("embed", path));
  CHECK(provenance_of_file(path).size() == 3);
  CHECK(message_of([&] {
          check_provenance_file("generate", path);
        }).find("x.json exists, and carbon generate has not written it") != std::string::npos);
}
