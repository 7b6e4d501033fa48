// Exact work sharing: what a site's plan computes is, bit for bit, what whole windows give.
#include "src/vep/plan.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <random>

#include "src/marginals/base_scores.hpp"
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
      std::vector<RequestPtr> requests;
      std::vector<CenteredPlan> plans;
      for (const Site& site : sites)
        for (const Strand strand : {Strand::forward, Strand::reverse})
          for (const int phase : {0, 4})
            plans.emplace_back(alleles_of(site.pos, site.ref, site.alts), slice, window, strand, phase,
                               engine.get().config().layout, requests);
      run_requests(engine.get(), requests);
      size_t at = 0;
      for (const Site& site : sites) {
        for (const int plan : {0, 1, 2, 3}) {
          const CenteredWindows windows =
              centered_windows(alleles_of(site.pos, site.ref, site.alts), slice, window,
                               plan < 2 ? Strand::forward : Strand::reverse, plan % 2 == 0 ? 0 : 4);
          for (size_t i = 0; i < site.alts.size(); ++i) {
            const std::string& alternative = windows.alternatives[i];
            const double want = log_likelihood_ratio(
                whole_window(whole.get(), alternative),
                whole_window(whole.get(), windows.reference.substr(0, alternative.size())));
            CAPTURE(site.pos);
            CAPTURE(site.alts[i]);
            CHECK(same_bits(plans[at].llr(i), want));
            if (site.alts[i] == site.ref) CHECK(same_bits(plans[at].llr(i), 0.0));
          }
          ++at;
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
  for (const Strand strand : {Strand::forward, Strand::reverse}) {
    std::vector<RequestPtr> requests;
    const CenteredPlan a(alleles_of(200, "A", {"G"}), {0, 400, contig}, 300, strand, 0,
                         engine.get().config().layout, requests);
    const CenteredPlan b(alleles_of(200, "G", {"A"}), {0, 400, swapped}, 300, strand, 0,
                         engine.get().config().layout, requests);
    const NextTokenPlan c(alleles_of(200, "A", {"G", "A"}), {0, 400, contig}, 180, strand,
                          engine.get().config().layout, requests);
    const NextTokenPlan d(alleles_of(200, "G", {"A"}), {0, 400, swapped}, 180, strand,
                          engine.get().config().layout, requests);
    run_requests(engine.get(), requests);
    CHECK(a.llr(0) != 0.0);
    CHECK(same_bits(a.llr(0), -b.llr(0)));
    CHECK(c.llr(0) != 0.0);
    CHECK(same_bits(c.llr(0), -d.llr(0)));
    CHECK(c.llr(1) == 0.0);
  }
}
