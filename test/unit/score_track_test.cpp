// Scores that are sorted by their place: in memory, and in runs of a file.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "src/vep/score_track.hpp"

namespace carbon {

TEST_CASE("the lowest score of each place, in the order of places") {
  std::mt19937 random(7);
  for (const size_t most : {size_t{10}, size_t{300}, size_t{999}, size_t{100'000}})
    for (const bool sorted : {false, true}) {
      CAPTURE(most);
      CAPTURE(sorted);
      std::vector<LowestScores::Place> given;
      for (int i = 0; i < 20'000; ++i)
        given.push_back({static_cast<uint32_t>(random() % 3), static_cast<uint32_t>(random() % 5'000),
                         static_cast<float>(random() % 1000) - 500});
      if (sorted)
        std::sort(given.begin(), given.end(), [](const auto& a, const auto& b) {
          return std::pair(a.contig, a.position) < std::pair(b.contig, b.position);
        });
      // One place has the largest numbers.
      given.push_back({UINT32_MAX, UINT32_MAX, -1});
      std::map<std::pair<uint32_t, uint32_t>, float> wanted;
      LowestScores scores(most);
      for (const auto& [contig, position, score] : given) {
        scores.add({contig, position, score});
        const auto [at, is_new] = wanted.try_emplace({contig, position}, score);
        if (!is_new) at->second = std::min(at->second, score);
      }
      std::vector<std::pair<std::pair<uint32_t, uint32_t>, float>> got;
      scores.each([&](const LowestScores::Place& place) {
        got.push_back({{place.contig, place.position}, place.lowest});
      });
      CHECK(got == decltype(got)(wanted.begin(), wanted.end()));
    }
}

TEST_CASE("no scores") {
  LowestScores scores;
  scores.each([](const LowestScores::Place&) { FAIL("a place"); });
}

}  // namespace carbon
