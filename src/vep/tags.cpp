#include "src/vep/tags.hpp"

namespace carbon {

std::vector<InfoTag> score_tags(const VepOptions& options) {
  const std::string less_likely = "; negative = the alternative is less likely";
  std::vector<InfoTag> tags;
  if (options.wants(Recipe::centered))
    tags.push_back({options.tag_prefix + "_LLR", "A", "Float",
                    "Carbon log-likelihood ratio of the " + std::to_string(options.window) +
                        " bp window, alternative minus reference, in nats" + less_likely});
  if (options.wants(Recipe::next_token))
    tags.push_back({options.tag_prefix + "_NT", "A", "Float",
                    "Carbon ln(P(ALT)/P(REF)) of the base after the " + std::to_string(*options.context) +
                        " bp context" + less_likely});
  if (!options.wants(Recipe::anchored)) return tags;
  for (const int64_t horizon : options.horizons) {
    const std::string bp = std::to_string(horizon), suffix = options.horizons.size() > 1 ? "_" + bp : "";
    tags.push_back({options.tag_prefix + "_ALLR" + suffix, "A", "Float",
                    "Carbon log-likelihood ratio of the allele and " + bp +
                        " bp after it on a shared window, alternative minus reference, in nats" +
                        less_likely});
  }
  return tags;
}

InfoTag flag_tag(const VepOptions& options) {
  return {options.tag_prefix + "_FLAG", "A", "String",
          "Why a Carbon score is missing: no_contig, edge, symbolic, star, non_acgt, ref_mismatch, "
          "too_long, multibase"};
}

bool is_score_tag(const std::string& tag, const std::string& prefix) {
  const std::string anchored = prefix + "_ALLR";
  if (tag == prefix + "_LLR" || tag == prefix + "_NT" || tag == anchored) return true;
  return tag.starts_with(anchored + "_") && tag.size() > anchored.size() + 1 &&
         tag.find_first_not_of("0123456789", anchored.size() + 1) == std::string::npos;
}

}  // namespace carbon
