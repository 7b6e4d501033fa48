// The type of an allele by its letters: how many bases become how many others.
#pragma once

#include <string>

namespace carbon {

/// SNV, MNV, INS, DEL, complex (bases become other bases of another number), or other (no bases, or no
/// change). Expects upper case.
inline const char* allele_type(std::string ref, std::string alt) {
  for (const std::string* text : {&ref, &alt})
    if (text->empty() || text->find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ") != std::string::npos)
      return "other";
  while (!ref.empty() && !alt.empty() && ref.back() == alt.back()) ref.pop_back(), alt.pop_back();
  size_t same = 0;
  while (same < ref.size() && same < alt.size() && ref[same] == alt[same]) ++same;
  const size_t removed = ref.size() - same, inserted = alt.size() - same;
  if (removed == inserted) return removed == 0 ? "other" : removed == 1 ? "SNV" : "MNV";
  return removed == 0 ? "INS" : inserted == 0 ? "DEL" : "complex";
}

}  // namespace carbon
