// Hidden states of jobs: in pieces or whole, alone or together, and their means.
#include "src/embed/embedder.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <random>

#include "test/unit/generated_checkpoint.hpp"

using namespace carbon;
using carbon::test::GeneratedCheckpoint;
using carbon::test::tiny;

namespace {

EmbedJob job_of(const TokenLayout& layout, size_t n, unsigned seed, size_t want_begin, bool mean = false) {
  std::mt19937 random(seed);
  EmbedJob job;
  job.tokens.push_back(layout.dna_begin());
  while (job.tokens.size() < n) job.tokens.push_back(layout.kmer0() + random() % kKmerCount);
  job.want_begin = want_begin;
  job.mean = mean;
  return job;
}

EngineOptions options_of(const GeneratedCheckpoint& files, size_t batch_tokens) {
  EngineOptions options;
  options.model = files.dir();
  options.threads = 2;
  options.batch_tokens = batch_tokens;
  return options;
}

void run(Engine& engine, int layer, std::vector<EmbedJob>& jobs) {
  std::vector<EmbedJob*> pointers;
  for (EmbedJob& job : jobs) pointers.push_back(&job);
  embed_jobs(engine, layer, pointers);
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

}  // namespace

TEST_CASE("an embedding's bits do not depend on the batch or on neighbours") {
  const GeneratedCheckpoint files(tiny());
  Engine whole(options_of(files, 4096)), pieces(options_of(files, 7)), single(options_of(files, 1));
  const TokenLayout& layout = whole.config().layout;
  const size_t width = whole.config().hidden;
  for (const int layer : {kFinalNorm, 1, 2, 3}) {
    CAPTURE(layer);
    const std::vector<EmbedJob> asked{job_of(layout, 30, 1, 29),       job_of(layout, 30, 1, 1),
                                      job_of(layout, 30, 1, 1, true),  job_of(layout, 2, 2, 1, true),
                                      job_of(layout, 1, 3, 0),         job_of(layout, 30, 1, 29),
                                      job_of(layout, 30, 1, 1, true),  job_of(layout, 15, 1, 8),
                                      job_of(layout, 100, 4, 1, true), job_of(layout, 30, 1, 1)};
    std::vector<EmbedJob> together = asked, cut = asked;
    run(whole, layer, together);
    run(pieces, layer, cut);
    for (size_t i = 0; i < asked.size(); ++i) {
      CAPTURE(i);
      std::vector<EmbedJob> alone{asked[i]}, one_by_one{asked[i]};
      run(whole, layer, alone);
      run(single, layer, one_by_one);
      CHECK(alone[0].rows.size() ==
            (asked[i].mean ? 1 : asked[i].tokens.size() - asked[i].want_begin) * width);
      CHECK(same_bits(together[i].rows, alone[0].rows));
      CHECK(same_bits(cut[i].rows, alone[0].rows));
      CHECK(same_bits(one_by_one[0].rows, alone[0].rows));
    }
    CHECK(same_bits(together[0].rows, together[5].rows));
    for (size_t j = 0; j < width; ++j) {
      double sum = 0;
      for (size_t row = 0; row < 29; ++row) sum += together[1].rows[row * width + j];
      CHECK(together[2].rows[j] == static_cast<float>(sum / 29));
      CHECK(together[0].rows[j] == together[1].rows[28 * width + j]);
    }
  }
}
