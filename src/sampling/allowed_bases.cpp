#include "src/sampling/allowed_bases.hpp"

#include "src/base/error.hpp"
#include "src/base/json.hpp"

namespace carbon {

BaseSet iupac_bases(char code) {
  constexpr BaseSet a = 1, t = 2, c = 4, g = 8;  // bits in digit order
  switch (code >= 'a' && code <= 'z' ? code - 'a' + 'A' : code) {
    case 'A':
      return a;
    case 'C':
      return c;
    case 'G':
      return g;
    case 'T':
    case 'U':
      return t;
    case 'R':
      return a | g;
    case 'Y':
      return c | t;
    case 'S':
      return c | g;
    case 'W':
      return a | t;
    case 'K':
      return g | t;
    case 'M':
      return a | c;
    case 'B':
      return c | g | t;
    case 'D':
      return a | g | t;
    case 'H':
      return a | c | t;
    case 'V':
      return a | c | g;
    case 'N':
      return kAnyBase;
    default:
      return 0;
  }
}

std::vector<BaseSet> parse_constraint(std::string_view text, const std::string& where,
                                      const std::string& function) {
  std::vector<BaseSet> sets;
  sets.reserve(text.size());
  for (const char code : text) {
    sets.push_back(iupac_bases(code));
    if (sets.back() == 0)
      throw Error(function, where + ": '" + printable(std::string_view(&code, 1)) + "' at position " +
                                std::to_string(sets.size()) +
                                " is not an IUPAC code; use A C G T U R Y S W K M B D H V N");
  }
  if (sets.empty())
    throw Error(function, where + ": the constraint is empty; give one letter for each base, N for any base");
  return sets;
}

}  // namespace carbon
