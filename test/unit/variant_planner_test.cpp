// Variants on a sequence in memory have the scores that they have on a FASTA file.
#include "src/vep/variant_planner.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <set>

#include "src/vep/variant_scores.hpp"
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
  for (const VepStrand strand : {VepStrand::recipe_default, VepStrand::reverse}) {
    VepOptions options;
    options.recipes = {Recipe::centered, Recipe::next_token, Recipe::anchored};
    options.strand = strand;
    options.window = 240;
    options.context = 180;
    options.anchored_context = 120;
    options.horizons = {6, 60};

    std::vector<VariantScores> wanted;
    score_variants(engine.get(), fasta, options, given.variants, [&](size_t i, const VariantScores& scores) {
      REQUIRE(i == wanted.size());
      wanted.push_back(scores);
    });
    REQUIRE(wanted.size() == given.variants.size());

    const VariantPlanner planner(engine.get().config(), options);
    ReferenceReader reference(given.name, to_upper(given.contig));
    std::vector<VariantItem> items;
    std::vector<RequestPtr> requests;
    planner.plan(given.variants, reference, [&](VariantItem item) {
      requests.insert(requests.end(), item.requests.begin(), item.requests.end());
      items.push_back(std::move(item));
    });
    REQUIRE(items.size() == given.variants.size());
    run_requests(engine.get(), requests);
    for (size_t i = 0; i < items.size(); ++i) {
      CAPTURE(items[i].place);
      CHECK(items[i].index == i);
      const VariantScores scores = planner.read(items[i]);
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
  VepOptions options;
  options.recipes = {Recipe::anchored};
  options.strand = VepStrand::forward;
  options.anchored_context = 120;
  options.horizons = {6};
  const VariantPlanner planner(engine.get().config(), options);
  const std::vector<PlacedVariant> variants = {
      {"c", {300, "A", {"C"}}}, {"c", {301, "A", {"G"}}}, {"c", {330, "A", {"T"}}}};
  const auto windows = [&](std::span<const PlacedVariant> together) {
    ReferenceReader reference("c", contig);
    size_t count = 0;
    planner.plan(together, reference, [&](const VariantItem& item) {
      for (const RequestPtr& request : item.requests) count += request->parent ? 0 : 1;
    });
    return count;
  };
  CHECK(windows(variants) == 1);
  CHECK(windows({variants.data(), 1}) == 1);
  options.window = 13;
  options.recipes = {Recipe::centered};
  CHECK_THROWS_WITH_AS(VariantPlanner(engine.get().config(), options),
                       doctest::Contains("a window of 13 bp cannot be used"), Error);
}

TEST_CASE("a reference in memory has one contig") {
  const ReferenceReader reference("c", "ACGT");
  CHECK(reference.length("c") == 4);
  CHECK(reference.length("d") == -1);
}
