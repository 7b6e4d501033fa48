#include "src/vep/counts.hpp"

#include <string>
#include <utility>
#include <vector>

#include "src/base/counts.hpp"

namespace carbon {

void print_summary(const VepCounts& counts, Log& log) {
  std::vector<std::pair<std::string, uint64_t>> named = {{"total", counts.total}, {"scored", counts.scored}};
  std::string missing;
  for (size_t i = 1; i < counts.alleles.size(); ++i) {
    const auto flag = static_cast<AlleleFlag>(i);
    const uint64_t count = counts.alleles[i];
    named.emplace_back(flag_name(flag), count);
    if (count > 0)
      missing += (missing.empty() ? "; alleles without a score: " : ", ") + std::to_string(count) + " " +
                 flag_name(flag) + " (" + flag_meaning(flag) + ")";
  }
  if (counts.neighbours > 0)
    log.warning("vep",
                count_of(counts.neighbours, "record") + (counts.neighbours == 1 ? " follows" : " follow") +
                    " another one on the same haplotype within 6 bases, and a score is that of one change "
                    "alone; carbon +haplotypes joins such changes, so that they can be scored as one");
  log.summary(
      "vep",
      "Records " + std::to_string(counts.total) + ", scored " + std::to_string(counts.scored) + missing,
      named);
  if (counts.scored == 0 && counts.total > 0) log.warning("vep", "no record was scored");
}

}  // namespace carbon
