// Similar names.
#include "src/base/words.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

using namespace carbon;

namespace {

// The definition by recursion over the last letters, without a table.
size_t plain_distance(const std::string& a, const std::string& b) {
  if (a.empty() || b.empty()) return a.size() + b.size();
  const std::string x = a.substr(0, a.size() - 1), y = b.substr(0, b.size() - 1);
  size_t least = std::min({plain_distance(x, y) + (a.back() == b.back() ? 0 : 1), plain_distance(x, b) + 1,
                           plain_distance(a, y) + 1});
  if (a.size() > 1 && b.size() > 1 && a.back() == y.back() && x.back() == b.back())
    least = std::min(least, plain_distance(x.substr(0, x.size() - 1), y.substr(0, y.size() - 1)) + 1);
  return least;
}

}  // namespace

TEST_CASE("edit_distance counts letters that are added, dropped, replaced or swapped") {
  CHECK(edit_distance("", "") == 0);
  CHECK(edit_distance("", "abc") == 3);
  CHECK(edit_distance("strand", "strand") == 0);
  CHECK(edit_distance("strnad", "strand") == 1);
  CHECK(edit_distance("--windw", "--window") == 1);
  std::mt19937 random(1);
  for (int i = 0; i < 300; ++i) {
    std::string words[2];
    for (std::string& word : words)
      for (size_t n = random() % 6; n > 0; --n) word += static_cast<char>('a' + random() % 3);
    CHECK(edit_distance(words[0], words[1]) == plain_distance(words[0], words[1]));
  }
}

TEST_CASE("near_names has the nearest names, and none that are far") {
  const std::vector<std::string> names = {"vep", "scan", "score", "+rank", "Carbon-500M"};
  CHECK(near_names("scor", names) == std::vector<std::string>{"score"});
  CHECK(near_names("rank", names) == std::vector<std::string>{"+rank"});
  CHECK(near_names("carbon-500m", names) == std::vector<std::string>{"Carbon-500M"});
  CHECK(near_names("generate", names).empty());
  CHECK(near_names("", names).empty());
  CHECK(near_names(std::string(1 << 20, 'x'), names).empty());
  CHECK(near_names("ab", {"ac", "ad", "xyz"}) == std::vector<std::string>{"ac", "ad"});
}

TEST_CASE("did_you_mean is a question in parentheses or nothing") {
  CHECK(did_you_mean("scor", {"vep", "score"}) == " (did you mean 'score'?)");
  CHECK(did_you_mean("ab", {"ac", "ad", "ae"}) == " (did you mean 'ac', 'ad' or 'ae'?)");
  CHECK(did_you_mean("ab", {"ac", "ad", "ae", "af"}).empty());
  CHECK(did_you_mean("ab", {"vep"}).empty());
}
