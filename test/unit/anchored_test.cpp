// The anchored recipe: where its windows lie, and that sharing them changes no bit.
#include "src/vep/recipes/recipes.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <random>

#include "src/sampling/base_scores.hpp"
#include "src/vep/shared_window.hpp"
#include "src/vep/site_planner.hpp"
#include "src/vep/variant.hpp"
#include "test/unit/test_engine.hpp"

using namespace carbon;
using carbon::test::GeneratedCheckpoint;
using carbon::test::TestEngine;
using carbon::test::tiny;

namespace {

NormalAllele normal(const std::string& contig, int64_t pos, const std::string& ref, const std::string& alt) {
  return normalise(pos, ref, alt, [&](int64_t i) { return contig.at(static_cast<size_t>(i)); });
}

NormalAllele rightmost(const std::string& contig, const NormalAllele& form) {
  return right_aligned(form, static_cast<int64_t>(contig.size()), [&](int64_t i) {
    REQUIRE(i >= form.pos);
    return contig.at(static_cast<size_t>(i));
  });
}

std::string applied(const std::string& contig, const NormalAllele& allele) {
  std::string out = contig;
  REQUIRE(out.compare(static_cast<size_t>(allele.pos), allele.ref.size(), allele.ref) == 0);
  return out.replace(static_cast<size_t>(allele.pos), allele.ref.size(), allele.alt);
}

std::string text(const NormalAllele& allele) {
  return std::to_string(allele.pos) + " " + allele.ref + " " + allele.alt;
}

// Every base of a sequence that runs alone and whole.
std::vector<double> alone(Engine& engine, const std::string& bases) {
  const auto request = std::make_shared<Request>();
  request->tokens = window_tokens(bases, engine.config().layout);
  request->head = HeadKind::marginals;
  run_requests(engine, {request});
  std::vector<double> logs;
  append_base_logprobs(bases, 0, bases.size(), request->values(), logs);
  return logs;
}

// The score of an allele by the definition, on the strand that `contig` is, with `form` in its coordinates.
double by_definition(Engine& engine, const std::string& contig, const NormalAllele& form, int64_t context,
                     int64_t horizon, int phases) {
  double sum = 0;
  int count = 0;
  for (int phase = 0; phase < phases && (phase == 0 || form.pos >= phase); ++phase, ++count) {
    const std::string strand = contig.substr(static_cast<size_t>(phase));
    const int64_t p = form.pos - phase, q = p - p % 6;
    const int64_t start = q / context >= 1 ? context * (q / context - 1) : 0;
    const auto n = static_cast<size_t>(p - start) + std::max(form.ref.size(), form.alt.size()) +
                   static_cast<size_t>(horizon);
    std::string reference = strand.substr(static_cast<size_t>(start), n);
    std::string alternative = strand.substr(static_cast<size_t>(start), static_cast<size_t>(p - start)) +
                              form.alt + strand.substr(static_cast<size_t>(p) + form.ref.size());
    alternative.resize(std::min(alternative.size(), reference.size()));
    reference.resize(alternative.size());
    sum += log_likelihood_ratio(alone(engine, alternative), alone(engine, reference));
  }
  return sum / count;
}

bool same_bits(double a, double b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

struct Variants {
  std::string name = "c", contig;
  std::vector<NormalAllele> alleles;

  // Adds the normal form of a variant that begins at `pos`.
  void add(int64_t pos, size_t ref, const std::string& alt) {
    alleles.push_back(normal(contig, pos, contig.substr(static_cast<size_t>(pos), ref), alt));
  }
};

// A site whose only allele is in the form that is scored.
VepSite site_of(const NormalAllele& form) {
  VepSite site;
  site.recipes.resize(1);
  site.recipes[0].flags = {AlleleFlag::scored};
  site.recipes[0].alleles.push_back({0, form});
  return site;
}

// Scores [horizon][variant] of variants that are planned together, in the order of `order`.
std::vector<std::vector<double>> together(Engine& engine, const Variants& variants,
                                          const RecipeSettings& settings, const std::vector<size_t>& order) {
  const SitePlanner planner(make_recipes(settings, engine.config()), engine.config().layout, nullptr);
  ReferenceReader reader(variants.name, variants.contig);
  const ContigReference reference{reader, variants.name, static_cast<int64_t>(variants.contig.size())};
  std::vector<VepSite> sites;
  for (const NormalAllele& form : variants.alleles) sites.push_back(site_of(form));
  std::vector<PlacedSite> placed;
  for (const size_t i : order) placed.push_back({&sites[i], reference});
  std::vector<RequestPtr> requests;
  planner.plan(placed, [&](size_t i) {
    const std::vector<RequestPtr>& own = placed[i].site->requests;
    requests.insert(requests.end(), own.begin(), own.end());
  });
  run_requests(engine, requests);
  std::vector<std::vector<double>> scores(settings.horizons.size());
  for (const VepSite& site : sites) {
    const SiteValues values = planner.values(site, "c");
    for (size_t h = 0; h < values.size(); ++h) scores[h].push_back(values[h][0]);
  }
  return scores;
}

Variants some_variants() {
  Variants v;
  std::mt19937 random(31);
  for (int i = 0; i < 900; ++i) v.contig += "ACGT"[random() % 4];
  v.contig.replace(400, 10, "AAAAAAAAAA");
  v.contig.replace(500, 12, "CACACACACACA");
  v.contig.replace(700, 3, "NNN");
  const auto other = [&](int64_t pos) { return v.contig[static_cast<size_t>(pos)] == 'A' ? "G" : "A"; };
  for (const int64_t pos : {0, 1, 5, 119, 120, 239, 240, 243, 241, 698, 893, 899}) v.add(pos, 1, other(pos));
  v.add(400, 2, "A");
  v.add(402, 1, "AAA");
  v.add(502, 3, "C");
  v.add(600, 7, "TTTTACGTACGTAC");
  v.add(300, 60, v.contig.substr(300, 1));
  v.add(300, 1, v.contig.substr(300, 1) + std::string(70, 'G'));
  v.add(0, 4, v.contig.substr(3, 1));
  v.add(895, 5, v.contig.substr(895, 1));
  v.add(899, 1, v.contig.substr(899, 1) + "TTG");
  v.add(610, 1, v.contig.substr(610, 1));
  return v;
}

}  // namespace

TEST_CASE("an allele moves to the right as far as the contig repeats it") {
  const std::string contig = "CAAAATGTGTGTCNAAC";
  const auto moved = [&](int64_t pos, const std::string& ref, const std::string& alt) {
    return text(rightmost(contig, normal(contig, pos, ref, alt)));
  };
  CHECK(moved(0, "CA", "C") == "4 AT T");
  CHECK(moved(0, "C", "CAA") == "5 T AAT");
  CHECK(moved(4, "ATG", "A") == "10 GTC C");
  CHECK(moved(11, "T", "TGT") == "12 C GTC");
  CHECK(moved(2, "A", "G") == "2 A G");
  CHECK(moved(2, "AAA", "GAC") == "2 AAA GAC");
  CHECK(text(rightmost("AAAA", {0, "AA", "A"})) == "2 AA A");
  CHECK(text(rightmost("AAAA", {0, "A", "AAA"})) == "3 A AAA");
}

TEST_CASE("the two forms of a random variant say the same, and lie at both ends of a repeat") {
  std::mt19937 random(8);
  for (int round = 0; round < 2000; ++round) {
    std::string contig;
    const size_t length = 4 + random() % 12;
    for (size_t i = 0; i < length; ++i) contig += "AC"[random() % 2];
    const size_t pos = random() % length, ref = 1 + random() % std::min<size_t>(4, length - pos);
    std::string alt;
    for (size_t i = 0; i < 1 + random() % 4; ++i) alt += "AC"[random() % 2];
    const NormalAllele left = normal(contig, static_cast<int64_t>(pos), contig.substr(pos, ref), alt);
    const NormalAllele right = rightmost(contig, left);
    CAPTURE(contig);
    CAPTURE(text(left));
    CAPTURE(text(right));
    CHECK(applied(contig, left) == applied(contig, right));
    CHECK(right.pos >= left.pos);
    CHECK(text(normal(contig, right.pos, right.ref, right.alt)) == text(left));
  }
}

TEST_CASE("windows lie on a grid of the strand, with one to two contexts before the allele") {
  const auto place = [](int64_t pos, int phase) {
    const AnchoredPlace at = anchored_place(pos, 60, phase, 6);
    return std::pair(at.start, at.first);
  };
  CHECK(place(0, 0) == std::pair<int64_t, int64_t>(0, 0));
  CHECK(place(59, 0) == std::pair<int64_t, int64_t>(0, 54));
  CHECK(place(119, 0) == std::pair<int64_t, int64_t>(0, 114));
  CHECK(place(120, 0) == std::pair<int64_t, int64_t>(60, 120));
  CHECK(place(120, 1) == std::pair<int64_t, int64_t>(1, 115));
  CHECK(place(121, 1) == std::pair<int64_t, int64_t>(61, 121));
  CHECK(place(185, 5) == std::pair<int64_t, int64_t>(125, 185));
  // The longest allele just fits: a window has at most two contexts less a 6-mer, five bases, the allele and
  // the horizon.
  for (const size_t positions : {size_t{40}, size_t{41}, size_t{100}}) {
    const int64_t longest = anchored_longest(60, 7, positions, 6);
    const auto tokens = [&](int64_t length) { return (2 * 60 - 6 + 5 + length + 7 + 5) / 6; };
    CHECK(tokens(longest) <= static_cast<int64_t>(positions));
  }
  CHECK(anchored_longest(4098, 768, 32768, 6) == 6 * 32767 - 2 * 4098 - 768 + 1);
}

TEST_CASE("shared windows give the bits of sequences that run alone") {
  const GeneratedCheckpoint files(tiny());
  const Variants variants = some_variants();
  RecipeSettings settings;
  settings.recipes = {"anchored"};
  settings.context = 120;
  settings.horizons = {0, 5, 96, 768};
  std::vector<size_t> sorted(variants.alleles.size()), shuffled;
  for (size_t i = 0; i < sorted.size(); ++i) sorted[i] = i;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](size_t a, size_t b) { return variants.alleles[a].pos < variants.alleles[b].pos; });
  shuffled = sorted;
  std::shuffle(shuffled.begin(), shuffled.end(), std::mt19937(4));
  for (const char* dtype : {"f32", "bf16"}) {
    TestEngine whole(files.dir(), 100000, dtype);
    TestEngine small(files.dir(), 70, dtype, 1);
    const auto in_order = together(whole.get(), variants, settings, sorted);
    const auto in_disorder = together(small.get(), variants, settings, shuffled);
    const auto length = static_cast<int64_t>(variants.contig.size());
    const std::string reverse = reverse_complement(variants.contig);
    for (size_t i = 0; i < variants.alleles.size(); ++i) {
      const NormalAllele& form = variants.alleles[i];
      CAPTURE(text(form));
      const int phases = form.ref.size() == form.alt.size() ? 1 : 6;
      const NormalAllele right = rightmost(variants.contig, form);
      const NormalAllele read{length - form.end(), reverse_complement(form.ref),
                              reverse_complement(form.alt)};
      for (size_t h = 0; h < settings.horizons.size(); ++h) {
        const double want =
            (by_definition(whole.get(), variants.contig, right, 120, settings.horizons[h], phases) +
             by_definition(whole.get(), reverse, read, 120, settings.horizons[h], phases)) /
            2;
        CHECK(same_bits(in_order[h][i], want));
        CHECK(same_bits(in_disorder[h][i], want));
        if (form.ref == form.alt) CHECK(same_bits(want, 0));
      }
    }
  }
}

TEST_CASE("neighbours share one reference window, and runs far apart do not keep it") {
  const GeneratedCheckpoint files(tiny());
  TestEngine engine(files.dir(), 4096);
  Variants variants;
  variants.contig = std::string(6000, 'A');
  for (size_t i = 0; i < variants.contig.size(); ++i) variants.contig[i] = "ACGT"[(i * i / 7) % 4];
  RecipeSettings settings;
  settings.recipes = {"anchored"};
  settings.context = 600;
  settings.horizons = {6};
  settings.strand = StrandChoice::forward;
  const auto references = [&](const std::vector<int64_t>& positions) {
    const SitePlanner planner(make_recipes(settings, engine.get().config()), engine.get().config().layout,
                              nullptr);
    ReferenceReader reader(variants.name, variants.contig);
    std::deque<VepSite> sites;
    std::vector<PlacedSite> placed;
    for (const int64_t pos : positions) {
      const char ref = variants.contig[static_cast<size_t>(pos)];
      sites.push_back(site_of({pos, std::string(1, ref), ref == 'A' ? "C" : "A"}));
      placed.push_back({&sites.back(), {reader, variants.name, 6000}});
    }
    size_t count = 0;
    planner.plan(placed, [&](size_t i) {
      const std::vector<RequestPtr>& requests = sites[i].requests;
      count += static_cast<size_t>(std::count_if(requests.begin(), requests.end(),
                                                 [](const RequestPtr& request) { return !request->parent; }));
    });
    return count;
  };
  CHECK(references({1300, 1350, 1799, 1200}) == 1);
  CHECK(references({100, 700}) == 1);
  CHECK(references({1199, 1200}) == 2);
  CHECK(references({1300, 2000, 1310}) == 2);
  CHECK(references({1300, 2000, 2600, 1310}) == 4);
}
