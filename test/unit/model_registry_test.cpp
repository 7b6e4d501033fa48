// The places where a model is searched for, their order, and the message if there is no such model.
#include "src/model/registry.hpp"

#include <doctest/doctest.h>

#include "test/unit/model_fixture.hpp"

using namespace model_test;
using carbon::resolve_model;

namespace {

/// An environment in which all places are in one temporary directory.
struct Places {
  TempDir dir;
  Environment home{"HOME", dir.str() + "/home"};
  Environment path{"CARBON_MODEL_PATH", dir.str() + "/p1::" + dir.str() + "/p2"};
  Environment model{"CARBON_MODEL", std::nullopt};
  Environment data{"XDG_DATA_HOME", std::nullopt};
  Environment cache{"XDG_CACHE_HOME", std::nullopt};
  Environment hf{"HF_HOME", std::nullopt};
  Environment hub{"HF_HUB_CACHE", std::nullopt};

  std::string put(const std::string& place) const {
    write_text(dir.path() / place / "config.json", "{}");
    return dir.str() + "/" + place;
  }
};

}  // namespace

TEST_CASE("registry: a directory is itself, and a path is never searched for") {
  const Places places;
  const std::string here = places.put("m");
  CHECK(resolve_model(here) == here);
  for (const std::string& bad : {places.dir.str() + "/none", std::string("../m"), std::string("p1/../m"),
                                 std::string("a/b/c"), std::string("")}) {
    CAPTURE(bad);
    CHECK(contains(message_of([&] { resolve_model(bad); }), "there is no config.json"));
  }
}

TEST_CASE("registry: the order of places") {
  const Places places;
  const std::string hub = places.put("home/.cache/huggingface/hub/models--m/snapshots/r1");
  CHECK(resolve_model("m") == hub);
  const std::string data = places.put("home/.local/share/carbon/models/m");
  CHECK(resolve_model("m") == data);
  {
    const std::string moved = places.put("xdg/carbon/models/m");
    const Environment xdg("XDG_DATA_HOME", places.dir.str() + "/xdg");
    CHECK(resolve_model("m") == moved);
  }
  const std::string second = places.put("p2/m");
  CHECK(resolve_model("m") == second);
  const std::string first = places.put("p1/m");
  CHECK(resolve_model("m") == first);
}

TEST_CASE("registry: not found lists the places") {
  const Places places;
  const std::string message = message_of([&] { resolve_model("Org/Nothing"); });
  for (const char* part :
       {"'Org/Nothing' not found", "/p1/Org/Nothing", "/p2/Org/Nothing", "carbon/models/Org/Nothing",
        "hub/models--Org--Nothing", "carbon downloads nothing"}) {
    CAPTURE(part);
    CHECK(contains(message, part));
  }
}

TEST_CASE("registry: snapshots of the Hugging Face cache") {
  const Places places;
  const std::string repository = "home/.cache/huggingface/hub/models--Org--M/";
  const fs::path main = places.dir.path() / (repository + "refs/main");
  const auto message = [] { return message_of([] { resolve_model("Org/M"); }); };
  const std::string a = places.put(repository + "snapshots/aaa");

  SUBCASE("the only one, with or without a reference to another") {
    CHECK(resolve_model("Org/M") == a);
    write_text(main, "ccc");
    CHECK(resolve_model("Org/M") == a);
  }
  SUBCASE("several") {
    const std::string b = places.put(repository + "snapshots/bbb");
    CHECK(contains(message(), "several snapshots"));
    CHECK(contains(message(), a));
    CHECK(contains(message(), b));
    write_text(main, "bbb\n");
    CHECK(resolve_model("Org/M") == b);
    write_text(main, "../../../m");
    CHECK(contains(message(), "several snapshots"));
  }
  SUBCASE("refs/main names a snapshot without a config") {
    fs::create_directories(places.dir.path() / (repository + "snapshots/ccc"));
    CHECK(resolve_model("Org/M") == a);
    write_text(main, "ccc");
    CHECK(contains(message(), "has no config.json"));
  }
}

TEST_CASE("registry: where the Hugging Face cache lies") {
  const Places places;
  const std::string by_home = places.put("hf/hub/models--Org--M/snapshots/r");
  const std::string by_hub = places.put("hub/models--Org--M/snapshots/r");
  const std::string by_xdg = places.put("xdg/huggingface/hub/models--Org--M/snapshots/r");
  const Environment xdg("XDG_CACHE_HOME", places.dir.str() + "/xdg");
  CHECK(resolve_model("Org/M") == by_xdg);
  const Environment home("HF_HOME", places.dir.str() + "/hf");
  CHECK(resolve_model("Org/M") == by_home);
  const Environment hub("HF_HUB_CACHE", places.dir.str() + "/hub");
  CHECK(resolve_model("Org/M") == by_hub);
}

TEST_CASE("registry: CARBON_MODEL is the default") {
  const Places places;
  const std::string first = places.put("p1/m");
  const Environment model("CARBON_MODEL", "m");
  CHECK(carbon::default_model() == first);
  const Environment missing("CARBON_MODEL", "not-there");
  CHECK(contains(message_of([] { carbon::default_model(); }), "'not-there' not found"));
}
