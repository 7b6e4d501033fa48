// Spellings of the names of contigs: chr1 and 1, chrM and MT. For everybody who compares names of two files,
// plugins as well.
#pragma once

#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/letters.hpp"

namespace carbon {

/// How many letters of a name are chr or chromosome, in capital or small letters.
inline size_t spelling_prefix(std::string_view name) {
  for (const std::string_view prefix : {"chromosome", "chr"})
    if (name.size() > prefix.size() && equal_letters(name.substr(0, prefix.size()), prefix))
      return prefix.size();
  return 0;
}

/// The same text for all spellings of a name.
inline std::string plain_spelling(std::string_view name) {
  const std::string plain = small_letters(std::string(name.substr(spelling_prefix(name))));
  return plain == "mt" ? "m" : plain;
}

/// The names of a file, to be looked up in other spellings: with chr or without, in capital or small letters,
/// M for MT. What is found is only offered, never taken: the chrM of hg19 is another sequence than MT.
class ContigSpellings {
 public:
  explicit ContigSpellings(const std::vector<std::string>& names) : names_(names.begin(), names.end()) {
    for (const std::string& name : names_) by_plain_.emplace(plain_spelling(name), name);
  }

  /// The one name that is `name` in another spelling; "" if the file has `name` itself, or none or several of
  /// these.
  std::string other(const std::string& name) const {
    const auto [first, last] = by_plain_.equal_range(plain_spelling(name));
    const bool one = first != last && std::next(first) == last;
    return one && !names_.contains(name) ? first->second : "";
  }

 private:
  std::set<std::string> names_;
  std::multimap<std::string, std::string> by_plain_;
};

/// What a message about a file without `name` adds: ", which calls it chr1", or "".
inline std::string called_otherwise(const std::string& name, const std::vector<std::string>& names) {
  const std::string known = ContigSpellings(names).other(name);
  return known.empty() ? "" : ", which calls it " + known;
}

/// How names of contigs become equal where no option says which belong together.
inline constexpr std::string_view kRenameContigs =
    "rename them in one file, e.g. with bcftools annotate --rename-chrs";

}  // namespace carbon
