// Exact work sharing: what a site's plan computes is, bit for bit, what whole windows give.
#include "src/vep/shared_window.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <deque>
#include <random>

#include "src/sampling/base_scores.hpp"
#include "src/vep/recipes/recipes.hpp"
#include "test/unit/alleles.hpp"
#include "test/unit/test_engine.hpp"

using namespace carbon;
using carbon::test::alleles_of;
using carbon::test::GeneratedCheckpoint;
using carbon::test::tiny;

namespace {

using carbon::test::TestEngine;

// Every base of a window, each window alone and whole.
std::vector<double> whole_window(Engine& engine, const std::string& bases) {
  const TokenLayout& layout = engine.config().layout;
  const std::vector<uint32_t> kmers = encode_kmers(bases, layout);
  const auto request = std::make_shared<Request>();
  request->tokens = {layout.begin()};
  request->tokens.insert(request->tokens.end(), kmers.begin(), kmers.end() - 1);
  request->head = HeadKind::marginals;
  run_requests(engine, {request});
  std::vector<double> out;
  append_base_logprobs(bases, 0, bases.size(), request->values(), out);
  return out;
}

// A recipe beside a contig, and sites that are planned by it.
struct Planned {
  Planned(std::unique_ptr<const Recipe> recipe, const std::string& contig, const TokenLayout& layout)
      : recipe(std::move(recipe)),
        length(static_cast<int64_t>(contig.size())),
        reader(name, contig),
        with{layout} {}

  const std::vector<ScoredAllele>& add(const std::vector<NormalAllele>& forms) {
    VepSite& site = sites.emplace_back();
    RecipeSite& own = site.recipes.emplace_back();
    for (const NormalAllele& form : forms) own.alleles.push_back({own.alleles.size(), form});
    const PlacedSite placed{&site, {reader, name, length}};
    recipe->plan({&placed, 1}, 0, with);
    requests.insert(requests.end(), site.requests.begin(), site.requests.end());
    return own.alleles;
  }

  std::unique_ptr<const Recipe> recipe;
  std::string name = "c";
  int64_t length;
  ReferenceReader reader;
  Planning with;
  std::deque<VepSite> sites;
  std::vector<RequestPtr> requests;
};

bool same_bits(double a, double b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

}  // namespace

TEST_CASE("shared prefix equals whole windows, for every batch limit, thread count and dtype") {
  const GeneratedCheckpoint files(tiny());
  std::mt19937 random(23);
  std::string contig;
  for (int i = 0; i < 1500; ++i) contig += random() % 60 == 0 ? 'N' : "ACGT"[random() % 4];
  contig.replace(700, 4, "ACGT");
  contig.replace(4, 4, "CATG");
  contig.replace(1490, 4, "TGCA");
  const ReferenceSlice slice{0, static_cast<int64_t>(contig.size()), contig};
  struct Site {
    int64_t pos;
    std::string ref;
    std::vector<std::string> alts;
  };
  const Site sites[] = {
      {700, "A", {"C", "G", "T", "A"}},
      {700, "ACGT", {"A", "TTTT", "ACGTACGTAAC", "AC"}},
      {4, "C", {"G", "CTTTTTTTTT"}},
      {4, "CATG", {"C"}},
      {1490, "TGCA", {"T", "TGCATGCATGCA", "AAAA"}},
  };
  constexpr int64_t window = 700;
  for (const char* dtype : {"f32", "bf16"}) {
    TestEngine whole(files.dir(), 100000, dtype);
    for (const size_t batch_tokens : {1u, 300u, 100000u}) {
      TestEngine engine(files.dir(), batch_tokens, dtype, batch_tokens == 300 ? 1 : 2);
      RecipeSettings settings;
      settings.window = window;
      settings.phases = PhaseChoice::all;
      Planned planned(make_centered(settings, engine.get().config()), contig, engine.get().config().layout);
      std::vector<const std::vector<ScoredAllele>*> alleles;
      for (const Site& site : sites)
        alleles.push_back(&planned.add(alleles_of(site.pos, site.ref, site.alts)));
      run_requests(engine.get(), planned.requests);
      for (size_t at = 0; at < std::size(sites); ++at) {
        const Site& site = sites[at];
        for (const int phase : {0, 4}) {
          for (const Strand strand : {Strand::forward, Strand::reverse}) {
            for (size_t i = 0; i < site.alts.size(); ++i) {
              const CenteredWindows windows = centered_windows(alleles_of(site.pos, site.ref, {site.alts[i]}),
                                                               slice, window, strand, phase);
              const std::string& alternative = windows.alternatives[0];
              const double want = log_likelihood_ratio(
                  whole_window(whole.get(), alternative),
                  whole_window(whole.get(), windows.reference.substr(0, alternative.size())));
              const double got =
                  (*alleles[at])[i].strands[static_cast<size_t>(strand)][static_cast<size_t>(phase)]->value(
                      0);
              CAPTURE(site.pos);
              CAPTURE(site.alts[i]);
              CHECK(same_bits(got, want));
              if (site.alts[i] == site.ref) CHECK(same_bits(got, 0.0));
            }
          }
        }
      }
    }
  }
}

TEST_CASE("swapping the alleles negates the ratio exactly") {
  const GeneratedCheckpoint files(tiny());
  TestEngine engine(files.dir(), 4096, "bf16");
  std::mt19937 random(5);
  std::string contig;
  for (int i = 0; i < 400; ++i) contig += "ACGT"[random() % 4];
  contig[200] = 'A';
  std::string swapped = contig;
  swapped[200] = 'G';
  const ModelConfig& config = engine.get().config();
  for (const StrandChoice strand : {StrandChoice::forward, StrandChoice::reverse}) {
    RecipeSettings settings;
    settings.strand = strand;
    settings.window = 300;
    settings.context = 180;
    const auto ratios = [&](auto make, const std::string& bases, const std::string& ref,
                            const std::vector<std::string>& alts) {
      Planned planned(make(settings, config), bases, config.layout);
      const std::vector<ScoredAllele>& alleles = planned.add(alleles_of(200, ref, alts));
      run_requests(engine.get(), planned.requests);
      std::vector<double> out;
      for (const ScoredAllele& allele : alleles) out.push_back(allele.strands[0][0]->value(0));
      return out;
    };
    const auto a = ratios(make_centered, contig, "A", {"G"}), b = ratios(make_centered, swapped, "G", {"A"});
    CHECK(a[0] != 0.0);
    CHECK(same_bits(a[0], -b[0]));
    const auto c = ratios(make_next_token, contig, "A", {"G", "A"}),
               d = ratios(make_next_token, swapped, "G", {"A"});
    CHECK(c[0] != 0.0);
    CHECK(same_bits(c[0], -d[0]));
    CHECK(c[1] == 0.0);
  }
}
