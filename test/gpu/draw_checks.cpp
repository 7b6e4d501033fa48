// draw(): the bits that src/sampling draws on the host from the same logits.
#include <random>

#include "src/sampling/samplers.hpp"
#include "test/gpu/check.hpp"

namespace carbon::gpu_test {
namespace {

using ops::DrawKind;
using ops::DrawOptions;
using ops::KmerDraw;

constexpr size_t kKmers = ops::kKmers;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// Sampling by all three, greedy or not, at several temperatures: what needs neither top-k nor top-p.
std::vector<DrawOptions> all_options() {
  std::vector<DrawOptions> all;
  for (const DrawKind kind : {DrawKind::kmer, DrawKind::marginal, DrawKind::chain}) {
    for (const double temperature : {1.0, 0.5, 1.7})
      all.push_back({kind, false, temperature, 0, 1, 0x123456789abcdefu});
    all.push_back({kind, true, 1, 0, 1, 3});
  }
  return all;
}

std::string name(const DrawOptions& options) {
  const char* const names[] = {"kmer", "marginal", "chain"};
  return std::string(names[static_cast<size_t>(options.kind)]) + (options.greedy ? " greedy" : "") +
         " T=" + std::to_string(options.temperature);
}

/// Rows as models give them, and as they hardly ever do.
std::vector<std::vector<float>> rows_of_all_kinds() {
  Random random(71);
  std::vector<std::vector<float>> rows{random.vector(kKmers, 3.0f), random.vector(kKmers, 60.0f),
                                       random.vector(kKmers, 0.01f)};
  rows.emplace_back(kKmers, 1.5f);  // all alike
  rows.push_back(random.vector(kKmers, 4.0f));
  for (float& z : rows.back()) z = std::round(z);  // ties
  rows.push_back(random.vector(kKmers, 1.0f));
  rows.back()[1234] = 900.0f;         // all other weights are 0
  rows.emplace_back(kKmers, -50.0f);  // 6-mers of one thread, of which the likelier often comes second
  for (size_t i = 0; i < 4; ++i) rows.back()[2000 + i] = 50.0f - static_cast<float>(i);
  rows.emplace_back(kKmers, -3e38f);
  rows.back()[4095] = 3e38f;
  rows.push_back(random.vector(kKmers, 2.0f));
  for (size_t v = 0; v < kKmers; ++v) rows.back()[v] -= v % 3 == 0 ? 0.0f : 707.5f;  // just above 0
  return rows;
}

/// Random places, allowed bases and bases asked about.
std::vector<KmerDraw> random_draws(size_t count, size_t rows) {
  std::mt19937 random(72);
  const auto below = [&](size_t n) { return static_cast<uint32_t>(random() % n); };
  std::vector<KmerDraw> draws(count);
  for (size_t i = 0; i < count; ++i) {
    KmerDraw& draw = draws[i];
    draw.row = below(rows);
    draw.counter = draw_counter({uint64_t{below(~0u)} << below(33), below(~0u), below(~0u)});
    draw.allowed = kAllAllowed;
    if (i % 3 == 1)  // as behind a prompt that ends inside a 6-mer
      for (size_t j = 0; j < i % 6; ++j) draw.allowed[j] = static_cast<uint8_t>(1u << below(4));
    if (i % 3 == 2)
      for (uint8_t& set : draw.allowed) set = static_cast<uint8_t>(1 + below(15));
    if (i % 2 == 1) {
      draw.first = static_cast<uint8_t>(below(6));
      draw.last = static_cast<uint8_t>(draw.first + 1 + below(size_t{6} - draw.first));
    }
  }
  return draws;
}

/// Every draw with options of its own, in turn those of all_options().
void draws_equal_the_hosts(Checks& checks, ops::Backend& backend, size_t count) {
  const std::vector<std::vector<float>> rows = rows_of_all_kinds();
  std::vector<float> all;
  for (const std::vector<float>& row : rows) all.insert(all.end(), row.begin(), row.end());
  const Array logits(backend, all);
  const std::vector<DrawOptions> options = all_options();
  std::vector<KmerDraw> draws;
  for (size_t turn = 0; turn < options.size(); ++turn) {
    draws = random_draws(count, rows.size());
    for (size_t i = 0; i < count; ++i) draws[i].options = options[(turn + i) % options.size()];
    std::vector<ops::DrawnKmer> got(count);
    backend.draw(logits.floats(), draws, got.data());
    Joint joint;
    for (size_t i = 0; i < count; ++i) {
      const ops::DrawnKmer want = draw_on_host(joint, rows[draws[i].row], {draws[i], nullptr, {}, 0});
      checks.that(got[i].finite == 1 && want.finite == 1 && got[i].kmer == want.kmer &&
                      std::memcmp(&got[i].logp, &want.logp, sizeof want.logp) == 0,
                  "draw " + std::to_string(i) + " of row " + std::to_string(draws[i].row) + ", " +
                      name(draws[i].options));
    }
    ops::DrawnKmer alone;
    backend.draw(logits.floats(), std::span(draws).subspan(count / 2, 1), &alone);
    checks.that(alone.kmer == got[count / 2].kmer && alone.logp == got[count / 2].logp,
                "a draw alone, " + name(draws[count / 2].options));
  }
}

void rows_that_are_not_finite(Checks& checks, ops::Backend& backend) {
  const size_t places[] = {0, 77, kKmers - 1};
  const float values[] = {std::nanf(""), kInfinity, -kInfinity};
  std::vector<float> all(kKmers * 10, 0.5f);
  std::vector<KmerDraw> draws(10);
  for (uint32_t i = 0; i < 10; ++i) {
    draws[i].row = i;
    // Of the rows' bad logits this allows none but the first.
    draws[i].allowed = {1, 1, 1, 1, 1, 1};
    if (i < 9) all[i * kKmers + places[i % 3]] = values[i / 3];
  }
  const Array logits(backend, all);
  for (const DrawOptions& options : all_options()) {
    std::vector<ops::DrawnKmer> got(10);
    for (KmerDraw& draw : draws) draw.options = options;
    backend.draw(logits.floats(), draws, got.data());
    for (size_t i = 0; i < 10; ++i)
      checks.that(got[i].finite == (i == 9 ? 1u : 0u), "row " + std::to_string(i) + ", " + name(options));
  }
}

void says_what_it_draws(Checks& checks, ops::Backend& backend) {
  checks.that(backend.draws({}), "the default");
  checks.that(!backend.draws({DrawKind::kmer, false, 1, 50}), "top-k");
  checks.that(!backend.draws({DrawKind::chain, false, 1, 0, 0.9}), "top-p");
  checks.that(backend.draws({DrawKind::kmer, true, 1, 50, 0.9}), "greedy with both");
  const Array logits(backend, std::vector<float>(kKmers + 1));
  ops::DrawnKmer out;
  checks.refused(
      [&] {
        backend.draw(logits.floats() + 1, std::vector<KmerDraw>(1), &out);
        return true;
      },
      "aligned");
}

}  // namespace

void check_draw(Checks& checks, const Machine& machine) {
  const auto backend = make(machine, kWays[0]);
  checks.run("draws have the bits of the host's",
             [&] { draws_equal_the_hosts(checks, *backend, machine.emulated ? 400 : 2000); });
  checks.run("draw: rows that are not finite", [&] { rows_that_are_not_finite(checks, *backend); });
  checks.run("draw: which options it takes", [&] { says_what_it_draws(checks, *backend); });
}

}  // namespace carbon::gpu_test
