// Variants on a sequence in memory have the scores that they have on a FASTA file.
#include "src/vep/variant_scores.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <set>

#include "src/base/error.hpp"
#include "test/unit/genome_files.hpp"
#include "test/unit/test_engine.hpp"

using namespace carbon;
using carbon::test::GeneratedCheckpoint;
using carbon::test::TestEngine;
using carbon::test::tiny;
using carbon_test::TemporaryDirectory;

namespace {

bool same_bits(const SiteValues& a, const SiteValues& b) {
  return std::equal(
      a.begin(), a.end(), b.begin(), b.end(), [](const std::vector<double>& x, const std::vector<double>& y) {
        return x.size() == y.size() && std::memcmp(x.data(), y.data(), x.size() * sizeof(double)) == 0;
      });
}

SitePlanner planner_of(const Engine& engine, const RecipeSettings& settings) {
  return {make_recipes(settings, engine.config()), engine.config().layout, nullptr};
}

struct Case {
  std::string name = "c", contig;
  std::vector<PlacedVariant> variants;
};

Case some_variants() {
  Case out;
  std::mt19937 random(41);
  for (int i = 0; i < 1200; ++i) out.contig += "ACGTacgt"[random() % 8];
  out.contig.replace(700, 2, "NN");
  const auto add = [&](int64_t pos, size_t ref, const std::vector<std::string>& alts) {
    out.variants.push_back({out.name, {pos, out.contig.substr(static_cast<size_t>(pos), ref), alts}});
  };
  for (const int64_t pos : {0, 5, 300, 301, 302, 600, 1199}) add(pos, 1, {"A", "c", "G", "T"});
  add(310, 3, {out.contig.substr(310, 1)});
  add(400, 1, {out.contig.substr(400, 1) + "ACGTA", "*", "<DEL>", "N"});
  add(500, 60, {"A"});
  add(700, 1, {"A"});
  out.variants.push_back({"other", {300, "A", {"C"}}});
  out.variants.push_back({out.name, {1200, "A", {"C"}}});
  out.variants.push_back({out.name, {-1, "A", {"C"}}});
  out.variants.push_back({out.name, {650, to_upper(out.contig.substr(650, 1)) == "A" ? "C" : "A", {"G"}}});
  return out;
}

}  // namespace

TEST_CASE("variants on a sequence in memory have the scores of those on a FASTA file") {
  const GeneratedCheckpoint files(tiny());
  TestEngine engine(files.dir(), 500, "bf16");
  const Case given = some_variants();
  const TemporaryDirectory folder;
  const IndexedFasta fasta(folder.put("in.fa", ">" + given.name + "\n" + given.contig + "\n"));
  std::set<std::string> flags;
  for (const std::optional<StrandChoice> strand :
       {std::optional<StrandChoice>(), std::optional(StrandChoice::reverse)}) {
    RecipeSettings settings;
    settings.recipes = {"centered", "next-token", "anchored"};
    settings.strand = strand;
    settings.window = 240;
    settings.context = 120;
    settings.horizons = {6, 60};
    const SitePlanner planner = planner_of(engine.get(), settings);

    std::vector<VariantScores> wanted;
    score_variants(engine.get(), fasta, planner, given.variants, [&](size_t i, const VariantScores& scores) {
      REQUIRE(i == wanted.size());
      wanted.push_back(scores);
    });
    REQUIRE(wanted.size() == given.variants.size());

    ReferenceReader reference(given.name, to_upper(given.contig));
    std::vector<VariantItem> items;
    std::vector<RequestPtr> requests;
    plan_variants(planner, given.variants, reference, [&](VariantItem item) {
      requests.insert(requests.end(), item.requests.begin(), item.requests.end());
      items.push_back(std::move(item));
    });
    REQUIRE(items.size() == given.variants.size());
    run_requests(engine.get(), requests);
    for (size_t i = 0; i < items.size(); ++i) {
      CAPTURE(items[i].place);
      CHECK(items[i].index == i);
      const VariantScores scores = variant_scores(planner, items[i]);
      CHECK(scores.values.size() == 4);
      CHECK(same_bits(scores.values, wanted[i].values));
      CHECK(scores.flags == wanted[i].flags);
      for (const AlleleFlag flag : scores.flags) flags.insert(flag_name(flag));
    }
  }
  CHECK(flags == std::set<std::string>{"", "edge", "multibase", "no_contig", "non_acgt", "ref_mismatch",
                                       "star", "symbolic"});
}

TEST_CASE("variants that are planned together share the windows of recipe anchored") {
  const GeneratedCheckpoint files(tiny());
  TestEngine engine(files.dir(), 500);
  const std::string contig(900, 'A');
  RecipeSettings settings;
  settings.recipes = {"anchored"};
  settings.strand = StrandChoice::forward;
  settings.context = 120;
  settings.horizons = {6};
  const SitePlanner planner = planner_of(engine.get(), settings);
  const std::vector<PlacedVariant> variants = {
      {"c", {300, "A", {"C"}}}, {"c", {301, "A", {"G"}}}, {"c", {330, "A", {"T"}}}};
  const auto windows = [&](std::span<const PlacedVariant> together) {
    ReferenceReader reference("c", contig);
    size_t count = 0;
    plan_variants(planner, together, reference, [&](const VariantItem& item) {
      for (const RequestPtr& request : item.requests) count += request->parent ? 0 : 1;
    });
    return count;
  };
  CHECK(windows(variants) == 1);
  CHECK(windows({variants.data(), 1}) == 1);
  settings.window = 13;
  settings.recipes = {"centered"};
  CHECK_THROWS_WITH_AS(make_recipes(settings, engine.get().config()),
                       doctest::Contains("a window of 13 bp cannot be used"), SettingError);
}

TEST_CASE("a reference in memory has one contig") {
  const ReferenceReader reference("c", "ACGT");
  CHECK(reference.length("c") == 4);
  CHECK(reference.length("d") == -1);
}
