// Alleles for tests of windows and plans.
#pragma once

#include <string>
#include <vector>

#include "src/vep/variant.hpp"

namespace carbon::test {

inline std::vector<NormalAllele> alleles_of(int64_t pos, const std::string& ref,
                                            const std::vector<std::string>& alts) {
  std::vector<NormalAllele> alleles;
  for (const std::string& alt : alts) alleles.push_back({pos, ref, alt});
  return alleles;
}

}  // namespace carbon::test
