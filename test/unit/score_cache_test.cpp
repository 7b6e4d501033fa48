// The score cache: values to the bit, keys that tell everything apart, and files that it refuses untouched.
#include "src/vep/score_cache.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <random>

#include "src/vep/variant_scores.hpp"
#include "test/unit/alleles.hpp"
#include "test/unit/test_engine.hpp"

using namespace carbon;
using carbon::test::alleles_of;
using carbon::test::GeneratedCheckpoint;
using carbon::test::tiny;
using model_test::contains;
using model_test::message_of;
using model_test::TempDir;
using model_test::write_text;

namespace {

std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

bool same_bits(double a, double b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

/// A cache file with the value 0.1 under the sequences "AC" and "AG".
std::filesystem::path small_cache(const TempDir& dir) {
  const std::filesystem::path path = dir.path() / "cache";
  ScoreCache cache(path.string(), "model");
  cache.insert(cache.look_up("centered", Strand::forward, {"AC", "AG"}).key, 0.1);
  cache.flush();
  return path;
}

std::string refusal(const std::filesystem::path& path) {
  return message_of([&] { ScoreCache(path.string(), "model"); });
}

}  // namespace

TEST_CASE("values come back to the bit, in the same run and in a later one") {
  const TempDir dir;
  const std::string path = (dir.path() / "cache").string();
  const double values[] = {-0.0, 0.1, -1e300, std::numeric_limits<double>::denorm_min(), 3};
  const auto sequence = [](size_t i) { return "ACGT" + std::string(i, 'A'); };
  {
    ScoreCache cache(path, "model");
    for (size_t i = 0; i < std::size(values); ++i) {
      const CachedScore at = cache.look_up("centered", Strand::forward, {sequence(i), "A"});
      CHECK_FALSE(at.llr);
      cache.insert(at.key, values[i]);
      cache.insert(at.key, values[i]);
    }
    cache.flush();
    CHECK(cache.look_up("centered", Strand::forward, {sequence(1), "A"}).llr == 0.1);
    CHECK(cache.looked_up() == std::size(values) + 1);
    CHECK(cache.found() == 1);
  }
  CHECK_FALSE(std::filesystem::exists(path + "-wal"));
  ScoreCache cache(path, "model");
  for (size_t i = 0; i < std::size(values); ++i) {
    const CachedScore at = cache.look_up("centered", Strand::forward, {sequence(i), "A"});
    REQUIRE(at.llr);
    CHECK(same_bits(*at.llr, values[i]));
  }
  CHECK(cache.found() == std::size(values));
}

TEST_CASE("many entries are written without being asked") {
  const TempDir dir;
  const std::string path = (dir.path() / "cache").string();
  {
    ScoreCache cache(path, "model");
    for (int i = 0; i < 2500; ++i)
      cache.insert(cache.look_up("centered", Strand::forward, {std::to_string(i), "A"}).key, i);
  }
  ScoreCache cache(path, "model");
  for (int i = 0; i < 2500; ++i) cache.look_up("centered", Strand::forward, {std::to_string(i), "A"});
  CHECK(cache.found() == 2048);
}

TEST_CASE("a key depends on everything that a score depends on") {
  const TempDir dir;
  const std::string path = (dir.path() / "cache").string();
  std::vector<ScoreKey> keys;
  {
    ScoreCache cache(path, "model");
    for (const auto& [recipe, strand] : {std::pair("centered", Strand::forward),
                                         {"centered", Strand::reverse},
                                         {"next-token", Strand::forward}})
      keys.push_back(cache.look_up(recipe, strand, {"AC", "G"}).key);
    keys.push_back(cache.look_up("centered", Strand::forward, {"A", "CG"}).key);
    keys.push_back(cache.look_up("centered", Strand::forward, {"AC", "G", ""}).key);
    keys.push_back(cache.look_up("centered", Strand::forward, {"G", "AC"}).key);
    CHECK(keys.front() == cache.look_up("centered", Strand::forward, {"AC", "G"}).key);
  }
  keys.push_back(ScoreCache(path, "other model").look_up("centered", Strand::forward, {"AC", "G"}).key);
  for (size_t i = 0; i < keys.size(); ++i)
    for (size_t j = 0; j < i; ++j) CHECK(keys[i] != keys[j]);
}

TEST_CASE("what is no sound cache is refused and left alone") {
  const TempDir dir;
  const std::filesystem::path good = small_cache(dir), path = dir.path() / "bad";
  const std::string bytes = bytes_of(good);
  REQUIRE(bytes.size() >= 8192);
  const auto expect = [&](const std::string& content, const char* what) {
    write_text(path, content);
    const std::string message = refusal(path);
    CAPTURE(message);
    CHECK(contains(message, what));
    CHECK(contains(message, path.string()));
    CHECK_FALSE(contains(message, "--"));  // options are for the command line to name
    CHECK(bytes_of(path) == content);
    CHECK_FALSE(std::filesystem::exists(path.string() + "-wal"));
  };
  expect("", "not a score cache");
  expect("##fileformat=VCFv4.2\n" + std::string(200, 'x'), "not a score cache");
  expect(bytes.substr(0, 60), "not a score cache");
  std::string changed = bytes;
  changed[68] ^= 1;  // another program's SQLite file
  expect(changed, "not a score cache");
  changed = bytes;
  changed[63] = 9;
  expect(changed, "layout 9");
  expect(bytes.substr(0, 4096), "damaged");
  changed = bytes;
  changed.replace(4096, 200, std::string(200, '\xff'));
  expect(changed, "damaged");
  changed = bytes;
  changed.replace(100, 300, std::string(300, '\0'));
  expect(changed, "damaged");
  // SQLite quotes the name of a table that it cannot read.
  changed = bytes;
  changed.replace(changed.find("tablescorescore"), 15, "tables\norescore");
  changed.replace(changed.find("CREATE TABLE"), 12, "CREATE TABLX");
  expect(changed, "damaged (malformed database schema (s\\x0aore)");
  CHECK(contains(refusal(dir.path()), "not a regular file"));
  CHECK(contains(refusal(dir.path() / "no" / "such"), "cannot make the score cache"));
  std::filesystem::create_symlink(dir.path() / "nowhere", dir.path() / "dangling");
  CHECK(contains(refusal(dir.path() / "dangling"), "cannot open the score cache"));
  write_text(dir.path() / "gone-wal", "log");
  CHECK(contains(refusal(dir.path() / "gone"), "gone-wal is left over"));
  CHECK_FALSE(std::filesystem::exists(dir.path() / "gone"));
  for (const auto& entry : std::filesystem::directory_iterator(dir.path()))
    CHECK_FALSE(contains(entry.path().string(), ".partial"));
}

TEST_CASE("a changed value is an error, not a score") {
  const TempDir dir;
  const std::filesystem::path path = small_cache(dir);
  std::string bytes = bytes_of(path);
  const size_t at = bytes.find("\x3f\xb9\x99\x99\x99\x99\x99\x9a");  // 0.1
  REQUIRE(at != std::string::npos);
  bytes[at + 7] = '\x9b';
  write_text(path, bytes);
  ScoreCache cache(path.string(), "model");
  const std::string message = message_of([&] { cache.look_up("centered", Strand::forward, {"AC", "AG"}); });
  CAPTURE(message);
  CHECK(contains(message, "checksum"));
}

TEST_CASE("alleles in the cache run nothing, and their ratios are the computed ones") {
  const GeneratedCheckpoint files(tiny());
  carbon::test::TestEngine engine(files.dir(), 4096);
  const TokenLayout& layout = engine.get().config().layout;
  std::mt19937 random(31);
  std::string contig;
  for (int i = 0; i < 900; ++i) contig += "ACGT"[random() % 4];
  contig[400] = 'A';
  const ReferenceSlice slice{0, 900, contig};
  const TempDir dir;
  const std::string path = (dir.path() / "cache").string();
  const std::vector<std::string> two{"C", "AGG"}, three{"G", "C", "AGG", "A"}, snvs{"C", "G"};

  // Returns the number of tokens that were run.
  const auto score = [&](const std::vector<RequestPtr>& requests) {
    const uint64_t before = engine.get().counts().rows;
    run_requests(engine.get(), requests);
    return engine.get().counts().rows - before;
  };
  const PlacedVariant snv{"c", {400, "A", snvs}};
  const auto variant = [](const std::vector<std::string>& alts) {
    return PlacedVariant{"c", {400, "A", alts}};
  };
  // Scores, tokens that were run, and how many of the requests are forks.
  struct Run {
    std::vector<double> values;
    uint64_t tokens;
    std::ptrdiff_t forks;
  };
  const auto score_by = [&](const std::string& recipe, StrandChoice strand, const PlacedVariant& placed,
                            ScoreCache* cache) {
    RecipeSettings settings;
    settings.recipes = {recipe};
    settings.strand = strand;
    settings.phases = PhaseChoice::one;
    settings.window = 300;
    settings.context = 180;
    const SitePlanner planner(make_recipes(settings, engine.get().config()), layout, cache);
    ReferenceReader reader("c", contig);
    Run run{};
    plan_variants(planner, {&placed, 1}, reader, [&](const VariantItem& item) {
      run.tokens = score(item.requests);
      run.forks = std::count_if(item.requests.begin(), item.requests.end(),
                                [](const RequestPtr& request) { return request->parent != nullptr; });
      run.values = variant_scores(planner, item).values[0];
    });
    return run;
  };
  for (const StrandChoice strand : {StrandChoice::forward, StrandChoice::reverse}) {
    const Run plain = score_by("centered", strand, variant(three), nullptr);
    const Run plain_next = score_by("next-token", strand, snv, nullptr);
    const auto with_cache = [&](const std::vector<std::string>& alts) {
      ScoreCache cache(path, "model");
      const Run centered = score_by("centered", strand, variant(alts), &cache);
      const Run next = score_by("next-token", strand, snv, &cache);
      const size_t skipped = three.size() - alts.size() == 2 ? 1 : 0;  // `two` is the middle of `three`
      for (size_t i = 0; i < alts.size(); ++i)
        CHECK(same_bits(centered.values[i], plain.values[i + skipped]));
      for (size_t i = 0; i < snvs.size(); ++i) CHECK(same_bits(next.values[i], plain_next.values[i]));
      cache.flush();
      return std::pair(centered.tokens + next.tokens, centered.forks);
    };
    CHECK(with_cache(two).second == 2);
    CHECK(with_cache(two).first == 0);
    CHECK(with_cache(three).second == 1);
    CHECK(with_cache(three).first == 0);
    CHECK(with_cache(two).first == 0);
  }
}
