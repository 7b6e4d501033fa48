// The words that are near to another one. All else of words.hpp is in the header.
#include "src/base/words.hpp"

#include "src/base/letters.hpp"

namespace carbon {

size_t edit_distance(const std::string& a, const std::string& b) {
  // Three rows of the table of distances between beginnings: a swap looks back by two.
  std::vector<size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({replaced, last[j] + 1, row[j - 1] + 1});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

std::vector<std::string> near_names(const std::string& word, const std::vector<std::string>& names) {
  // A word of this length is a mistake of another kind, and the table would be large.
  constexpr size_t kLongest = 200;
  if (word.size() > kLongest) return {};
  const std::string meant = small_letters(word);
  size_t fewest = std::max<size_t>(1, word.size() / 3);
  std::vector<std::string> near;
  for (const std::string& name : names) {
    if (name.size() > kLongest) continue;
    const size_t distance = edit_distance(meant, small_letters(name));
    if (distance > fewest) continue;
    if (distance < fewest) near.clear();
    fewest = distance;
    near.push_back(name);
  }
  return near;
}

std::string did_you_mean(const std::string& word, const std::vector<std::string>& names) {
  std::vector<std::string> near = near_names(word, names);
  if (near.empty() || near.size() > 3) return "";
  for (std::string& name : near) name = "'" + name + "'";
  return " (did you mean " + or_list(near) + "?)";
}

}  // namespace carbon
