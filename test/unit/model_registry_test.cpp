// The places where a model is searched for, their order, and the message if there is no such model.
#include "src/base/error.hpp"
#include "src/model/registry.hpp"

#include <doctest/doctest.h>

#include "src/model/model_files.hpp"
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
  Environment old_hub{"HUGGINGFACE_HUB_CACHE", std::nullopt};

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
        "hub/models--Org--Nothing", "carbon does not download models"}) {
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

  SUBCASE("the only one, and a reference to another that is not there") {
    CHECK(resolve_model("Org/M") == a);
    write_text(main, "ccc");
    CHECK(contains(message(), "refs/main names the snapshot 'ccc', which is not there"));
    CHECK(contains(message(), a));
  }
  SUBCASE("several") {
    const std::string b = places.put(repository + "snapshots/bbb");
    CHECK(contains(message(), "several snapshots, and no refs/main"));
    CHECK(contains(message(), a));
    CHECK(contains(message(), b));
    write_text(main, "bbb\n");
    CHECK(resolve_model("Org/M") == b);
    for (const std::string& bad : {std::string("../../../m"), std::string("ccc"), std::string()}) {
      CAPTURE(bad);
      write_text(main, bad);
      CHECK(contains(message(), "refs/main names the snapshot '" + bad + "', which is not there"));
      CHECK(contains(message(), b));
    }
  }
  SUBCASE("refs/main names a snapshot without a config") {
    fs::create_directories(places.dir.path() / (repository + "snapshots/ccc"));
    CHECK(resolve_model("Org/M") == a);
    write_text(main, "ccc");
    CHECK(contains(message(), "refs/main names, ccc, is not complete: there is no config.json"));
  }
}

TEST_CASE("registry: a name without its organisation") {
  const Places places;
  places.put("home/.cache/huggingface/hub/models--Org--M/snapshots/aaa");
  places.put("home/.cache/huggingface/hub/models--Other--M/snapshots/aaa");
  CHECK(contains(message_of([] { resolve_model("M"); }),
                 "'M' not found, but the Hugging Face cache has Org/M and Other/M"));
}

TEST_CASE("registry: GGUF files") {
  const Places places;
  const auto put = [&](const std::string& place) {
    write_text(places.dir.path() / place, "GGUF");
    return places.dir.str() + "/" + place;
  };
  const std::string file = put("p2/small.gguf");
  CHECK(resolve_model(file) == file);
  CHECK(resolve_model("small") == file);
  CHECK(resolve_model("small.gguf") == file);
  const std::string inside = put("p1/folder/a.gguf");
  CHECK(resolve_model("folder") == inside);
  CHECK(resolve_model(places.dir.str() + "/p1/folder") == inside);
  put("p1/folder/.hidden.gguf");
  CHECK(resolve_model("folder") == inside);
  put("p1/folder/b.gguf");
  CHECK(contains(message_of([] { resolve_model("folder"); }),
                 "there are several models in GGUF files; name one of them: a.gguf, b.gguf"));
  const std::string folder = places.put("p1/folder");
  CHECK(contains(message_of([] { resolve_model("folder"); }), "several models"));
  put("p1/folder/model.safetensors");
  CHECK(resolve_model("folder") == folder);
  const std::string cached = put("home/.cache/huggingface/hub/models--Org--M-GGUF/snapshots/r/m.gguf");
  CHECK(resolve_model("Org/M-GGUF") == cached);
  CHECK(contains(message_of([&] { resolve_model(put("p1/x/model.safetensors")); }),
                 "give the directory that holds it"));
  CHECK(contains(message_of([&] { resolve_model(put("p1/x/weights.txt")); }), "does not end in .gguf"));
}

TEST_CASE("registry: weights of other formats") {
  const Places places;
  write_text(places.dir.path() / "p1/m/pytorch_model.bin", "x");
  CHECK(contains(message_of([] { resolve_model("m"); }),
                 "it holds pytorch_model.bin, and weights are read from"));
}

TEST_CASE("registry: the list of models") {
  const Places places;
  const auto list = [] {
    std::string lines;
    for (const carbon::ListedModel& model : carbon::list_models())
      if (model.place != "bundled" && model.place != "installed")
        lines += model.place + " " + model.name + (model.why.empty() ? "" : " -") + "\n";
    return lines;
  };
  CHECK(list().empty());
  places.put("p2/b");
  places.put("p1/Org/c");
  fs::create_directories(places.dir.path() / "p1/empty");
  write_text(places.dir.path() / "p1/x.gguf", "GGUF");
  write_text(places.dir.path() / "p1/y-00001-of-00002.gguf", "GGUF");
  write_text(places.dir.path() / "p1/y-00002-of-00002.gguf", "GGUF");
  write_text(places.dir.path() / "p1/notes.txt", "");
  places.put("home/.local/share/carbon/models/d");
  places.put("home/.cache/huggingface/hub/models--Org--M/snapshots/aaa");
  places.put("home/.cache/huggingface/hub/datasets--Org--M/snapshots/aaa");
  fs::create_directories(places.dir.path() / "home/.cache/huggingface/hub/models--Org--N/snapshots");
  CHECK(list() ==
        "CARBON_MODEL_PATH Org/c\nCARBON_MODEL_PATH empty -\nCARBON_MODEL_PATH x.gguf\n"
        "CARBON_MODEL_PATH y-00001-of-00002.gguf\nCARBON_MODEL_PATH b\nuser d\n"
        "Hugging Face cache Org/M\nHugging Face cache Org/N -\n");
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

TEST_CASE("registry: variables of the Hugging Face cache are expanded as huggingface_hub does") {
  const Places places;
  const std::string root = places.dir.str();
  const Environment set("CARBON_TEST_ROOT", root);
  const auto hub = [](const char* variable, const std::string& value) {
    const Environment environment(variable, value);
    return carbon::hub_dir().string();
  };
  CHECK(carbon::hub_dir() == root + "/home/.cache/huggingface/hub");
  CHECK(hub("HF_HOME", "~/hf") == root + "/home/hf/hub");
  CHECK(hub("HF_HOME", "$HOME/hf") == root + "/home/hf/hub");
  CHECK(hub("HF_HOME", "${CARBON_TEST_ROOT}/hf/$CARBON_TEST_NONE") == root + "/hf/$CARBON_TEST_NONE/hub");
  CHECK(hub("HF_HOME", "hf") == "hf/hub");
  CHECK(hub("HF_HOME", "a/~/${b") == "a/~/${b/hub");
  CHECK(hub("HF_HOME", "~no-such-user/hf") == "~no-such-user/hf/hub");
  CHECK(hub("HF_HOME", "~root/hf") != "~root/hf/hub");
  CHECK(hub("HF_HUB_CACHE", "~") == root + "/home");
  CHECK(hub("HF_HUB_CACHE", "$CARBON_TEST_ROOT") == root);
  CHECK(hub("HUGGINGFACE_HUB_CACHE", "~/old") == root + "/home/old");
  CHECK(hub("XDG_CACHE_HOME", "~/c") == root + "/home/c/huggingface/hub");
  const Environment old("HUGGINGFACE_HUB_CACHE", root + "/old");
  CHECK(hub("HF_HUB_CACHE", root + "/new") == root + "/new");
  CHECK(hub("HF_HOME", "~/hf") == root + "/old");
}

TEST_CASE("registry: an adapter is not a model, and the advice names it") {
  const Places places;
  write_text(places.dir.path() / "tuned" / "adapter_config.json", "{}");
  write_text(places.dir.path() / "tuned" / "adapter_model.safetensors", "x");
  const std::string dir = places.dir.str() + "/tuned";
  for (const bool config : {false, true}) {
    if (config) write_text(dir + "/config.json", "{}");
    try {
      resolve_model(dir);
      FAIL("no error");
    } catch (const carbon::Error& error) {
      CHECK(contains(error.what(), "it is a LoRA adapter"));
      CHECK(error.advice() == carbon::Advice{"and add the adapter to it with {--lora 0}", {dir}});
    }
  }
}

TEST_CASE("registry: an adapter in the Hugging Face cache is not a model either") {
  const Places places;
  const Environment hub("HF_HUB_CACHE", places.dir.str() + "/hub");
  const std::string repository = places.dir.str() + "/hub/models--Org--A",
                    snapshot = repository + "/snapshots/r";
  write_text(snapshot + "/adapter_config.json", "{}");
  for (const bool reference : {false, true}) {
    if (reference) write_text(repository + "/refs/main", "r");
    try {
      resolve_model("Org/A");
      FAIL("no error");
    } catch (const carbon::Error& error) {
      CHECK(contains(error.what(), "it is a LoRA adapter"));
      CHECK_FALSE(contains(error.what(), "run hf download again"));
      CHECK(error.advice().values == std::vector<std::string>{snapshot});
    }
  }
}

TEST_CASE("registry: CARBON_MODEL is the default") {
  const Places places;
  const std::string first = places.put("p1/m");
  const Environment model("CARBON_MODEL", "m");
  CHECK(carbon::default_model() == first);
  const Environment missing("CARBON_MODEL", "not-there");
  CHECK(contains(message_of([] { carbon::default_model(); }), "'not-there' not found"));
}
