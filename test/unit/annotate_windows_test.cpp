// Windows of a contig, and means over them, against the rule written down plainly.
#include <doctest/doctest.h>

#include <cmath>
#include <random>

#include "src/annotate/windows.hpp"

using namespace carbon;

namespace {

std::vector<Interval> by_the_rule(int64_t n, int64_t w, int64_t o, int64_t k) {
  if (n < k) return {};
  if (n < w) {
    const int64_t whole = n / k * k;
    if (n == whole) return {{0, n}};
    return {{0, whole}, {n - whole, n}};
  }
  std::vector<Interval> all{{0, w}};
  while (all.back().end < n) {
    const int64_t begin = std::min(all.back().begin + w - o, n - w);
    all.push_back({begin, begin + w});
  }
  return all;
}

std::vector<AnnotatedWindow> visited(int64_t n, const WindowSizes& sizes, std::vector<Interval> wanted,
                                     int64_t from = 0) {
  std::vector<AnnotatedWindow> all;
  visit_windows(n, sizes, wanted, from, [&](const AnnotatedWindow& window) { all.push_back(window); });
  return all;
}

}  // namespace

TEST_CASE("windows are those of the rule, for every length, overlap and beginning") {
  for (const int64_t k : {1, 6})
    for (const int64_t w : {6, 24, 36})
      for (int64_t o = 0; o < w; o += k)
        for (int64_t n = 0; n <= 3 * w + 7; ++n) {
          CAPTURE(n);
          CAPTURE(o);
          const std::vector<Interval> rule = by_the_rule(n, w, o, k);
          const std::vector<AnnotatedWindow> all = visited(n, {w, o, k}, {{0, n}});
          REQUIRE(all.size() == rule.size());
          CHECK(count_windows(n, {w, o, k}) == static_cast<int64_t>(rule.size()));
          for (size_t i = 0; i < rule.size(); ++i) {
            CHECK(all[i].place == rule[i]);
            CHECK(all[i].last == (i + 1 == rule.size()));
            CHECK(all[i].final_end == (i + 1 < rule.size() ? rule[i + 1].begin : n));
          }
          for (const int64_t from : {int64_t{1}, n / 2, n - 1}) {
            size_t some = 0;
            for (const Interval& window : rule) some += window.end > from ? 1 : 0;
            if (from > 0) CHECK(visited(n, {w, o, k}, {{0, n}}, from).size() == some);
          }
        }
}

TEST_CASE("of regions only the windows that hold one of their bases are visited") {
  const WindowSizes sizes{24, 6, 6};
  std::vector<Interval> wanted = {{0, 1}, {30, 31}, {95, 100}};
  std::vector<Interval> expected;
  for (const Interval& window : by_the_rule(200, 24, 6, 6))
    for (const Interval& region : wanted)
      if (window.begin < region.end && region.begin < window.end) {
        expected.push_back(window);
        break;
      }
  const std::vector<AnnotatedWindow> all = visited(200, sizes, wanted);
  REQUIRE(all.size() == expected.size());
  for (size_t i = 0; i < all.size(); ++i) CHECK(all[i].place == expected[i]);
  CHECK(all.back().final_end == 200);
}

TEST_CASE("lengths and places of 2^32 - 1 bases are counted in 64 bits") {
  const int64_t n = 4294967295;
  const WindowSizes sizes{98304, 6144, 6};
  CHECK(count_windows(n, sizes) == 1 + (n - 98304 + 92159) / 92160);
  std::vector<Interval> wanted = {{n - 1, n}};
  const std::vector<AnnotatedWindow> last = visited(n, sizes, wanted);
  REQUIRE(last.size() == 1);
  CHECK(last[0].place == Interval{n - 98304, n});
}

TEST_CASE("means are sums in double over ascending windows, whatever a run begins with") {
  std::mt19937 random(3);
  const WindowSizes sizes{24, 18, 6};
  const int64_t n = 101;
  const std::vector<AnnotatedWindow> all = visited(n, sizes, {{0, n}});
  std::vector<std::vector<float>> logits(all.size());
  std::vector<double> sums[2] = {std::vector<double>(n), std::vector<double>(n)};
  std::vector<int> counts(n);
  for (size_t i = 0; i < all.size(); ++i) {
    for (int j = 0; j < 24 * 4; ++j) logits[i].push_back(static_cast<float>(random() % 2000) / 100 - 10);
    for (int64_t base = 0; base < 24; ++base) {
      const auto at = static_cast<size_t>(all[i].place.begin + base);
      ++counts[at];
      for (int strand = 0; strand < 2; ++strand) {
        const float* const z = &logits[i][static_cast<size_t>(base / 6 * 24 + strand * 12 + base % 6 * 2)];
        sums[strand][at] += 1 / (1 + std::exp(static_cast<double>(z[0]) - static_cast<double>(z[1])));
      }
    }
  }
  for (const int64_t from : {0, 7, 40, 100}) {
    std::vector<float> got[2];
    MeanProbabilities means(from,
                            [&](int64_t begin, std::span<const float> plus, std::span<const float> minus) {
                              CHECK(begin == from + static_cast<int64_t>(got[0].size()));
                              got[0].insert(got[0].end(), plus.begin(), plus.end());
                              got[1].insert(got[1].end(), minus.begin(), minus.end());
                            });
    for (size_t i = 0; i < all.size(); ++i) {
      if (all[i].place.end <= from) continue;
      means.add(all[i].place, 6, logits[i]);
      means.finish(all[i].final_end);
    }
    for (int strand = 0; strand < 2; ++strand) {
      REQUIRE(got[strand].size() == static_cast<size_t>(n - from));
      for (int64_t base = from; base < n; ++base) {
        const auto at = static_cast<size_t>(base);
        CHECK(got[strand][static_cast<size_t>(base - from)] ==
              static_cast<float>(sums[strand][at] / counts[at]));
      }
    }
  }
}

TEST_CASE("bases that no window covers are 0, and skipped ones are not given") {
  std::vector<float> values;
  std::vector<int64_t> begins;
  MeanProbabilities means(0, [&](int64_t begin, std::span<const float> plus, std::span<const float>) {
    begins.push_back(begin);
    values.insert(values.end(), plus.begin(), plus.end());
  });
  means.add({6, 12}, 6, std::vector<float>(24));
  means.finish(8);
  CHECK(values == std::vector<float>{0, 0, 0, 0, 0, 0, 0.5f, 0.5f});
  means.skip(11);
  means.finish(13);
  CHECK(begins == std::vector<int64_t>{0, 11});
  CHECK(values == std::vector<float>{0, 0, 0, 0, 0, 0, 0.5f, 0.5f, 0.5f, 0});
}
