#include "src/vep/counts.hpp"

#include <string>
#include <utility>
#include <vector>

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
  log.summary(
      "vep",
      "Records " + std::to_string(counts.total) + ", scored " + std::to_string(counts.scored) + missing,
      named);
  if (counts.scored == 0 && counts.total > 0) log.warning("vep", "no record was scored");
}

}  // namespace carbon
