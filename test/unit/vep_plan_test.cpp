// Exact work sharing: what a site's plan computes is, bit for bit, what whole windows give.
#include "src/vep/plan.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <random>

#include "src/marginals/base_scores.hpp"
#include "test/unit/generated_checkpoint.hpp"

using namespace carbon;
using carbon::test::GeneratedCheckpoint;
using carbon::test::tiny;

namespace {

EngineOptions options_for(const std::string& dir, const std::string& dtype, int threads,
                          size_t batch_tokens) {
  EngineOptions options;
  options.model = dir;
  options.dtype = dtype;
  options.threads = threads;
  options.batch_tokens = batch_tokens;
  return options;
}

void run(Engine& engine, std::vector<ScoreJob>& jobs) {
  std::vector<ScoreJob*> pointers;
  for (ScoreJob& job : jobs) pointers.push_back(&job);
  score_jobs(engine, pointers);
}

// Every base of a window, each window alone and whole.
std::vector<double> whole_window(Engine& engine, const std::string& bases) {
  const TokenLayout& layout = engine.config().layout;
  const std::vector<uint32_t> kmers = encode_kmers(bases, layout);
  std::vector<ScoreJob> jobs(1);
  jobs[0].tokens = {layout.dna_begin()};
  jobs[0].tokens.insert(jobs[0].tokens.end(), kmers.begin(), kmers.end() - 1);
  run(engine, jobs);
  std::vector<double> out;
  append_base_logprobs(bases, 0, bases.size(), jobs[0].rows, out);
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
    Engine whole(options_for(files.dir(), dtype, 2, 100000));
    for (const size_t batch_tokens : {1u, 300u, 100000u}) {
      Engine engine(options_for(files.dir(), dtype, batch_tokens == 300 ? 1 : 2, batch_tokens));
      std::vector<ScoreJob> jobs;
      std::vector<CenteredPlan> plans;
      for (const Site& site : sites)
        for (const Strand strand : {Strand::forward, Strand::reverse})
          plans.emplace_back(site.pos, site.ref, site.alts, slice, window, strand, engine.config().layout,
                             jobs);
      run(engine, jobs);
      size_t at = 0;
      for (const Site& site : sites) {
        for (const Strand strand : {Strand::forward, Strand::reverse}) {
          const CenteredWindows windows =
              centered_windows(site.pos, site.ref, site.alts, slice, window, strand);
          for (size_t i = 0; i < site.alts.size(); ++i) {
            const std::string& alternative = windows.alternatives[i];
            const double want =
                log_likelihood_ratio(whole_window(whole, alternative),
                                     whole_window(whole, windows.reference.substr(0, alternative.size())));
            CAPTURE(site.pos);
            CAPTURE(site.alts[i]);
            CHECK(same_bits(plans[at].llr(i, jobs), want));
            if (site.alts[i] == site.ref) CHECK(same_bits(plans[at].llr(i, jobs), 0.0));
          }
          ++at;
        }
      }
    }
  }
}

TEST_CASE("swapping the alleles negates the ratio exactly") {
  const GeneratedCheckpoint files(tiny());
  Engine engine(options_for(files.dir(), "bf16", 2, 4096));
  std::mt19937 random(5);
  std::string contig;
  for (int i = 0; i < 400; ++i) contig += "ACGT"[random() % 4];
  contig[200] = 'A';
  std::string swapped = contig;
  swapped[200] = 'G';
  for (const Strand strand : {Strand::forward, Strand::reverse}) {
    std::vector<ScoreJob> jobs;
    const CenteredPlan a(200, "A", {"G"}, {0, 400, contig}, 300, strand, engine.config().layout, jobs);
    const CenteredPlan b(200, "G", {"A"}, {0, 400, swapped}, 300, strand, engine.config().layout, jobs);
    const NextTokenPlan c(200, "A", {"G", "A"}, {0, 400, contig}, 180, strand, engine.config().layout, jobs);
    const NextTokenPlan d(200, "G", {"A"}, {0, 400, swapped}, 180, strand, engine.config().layout, jobs);
    run(engine, jobs);
    CHECK(a.llr(0, jobs) != 0.0);
    CHECK(same_bits(a.llr(0, jobs), -b.llr(0, jobs)));
    CHECK(c.llr(0, jobs) != 0.0);
    CHECK(same_bits(c.llr(0, jobs), -d.llr(0, jobs)));
    CHECK(c.llr(1, jobs) == 0.0);
  }
}
