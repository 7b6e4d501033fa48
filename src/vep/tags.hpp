// The INFO tags of a run of `carbon vep`.
#pragma once

#include <string>
#include <vector>

#include "src/genome/vcf.hpp"
#include "src/vep/options.hpp"

namespace carbon {

/// The INFO tags of a run's scores, in the order in which records have them: of recipe centered, of
/// next-token, and of anchored one for each horizon.
std::vector<InfoTag> score_tags(const VepOptions& options);

/// The tag that says why a score is missing.
InfoTag flag_tag(const VepOptions& options);

/// True for a tag that a run with this prefix may have written: those of the two recipes with one, and those
/// of any horizon.
bool is_score_tag(const std::string& tag, const std::string& prefix);

}  // namespace carbon
