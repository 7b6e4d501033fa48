// Which INFO tags of the input have scores, for plugins whose option for a tag is left out.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "plugins/alleles.hpp"
#include "plugins/support.hpp"
#include "src/formats/carbon_scores.hpp"

namespace carbon_plugins {

struct ScoreTags {
  std::vector<std::string> of_carbon;  // scores of vep, scan and +mutagenesis, in the order of the header
  std::vector<std::string> others;     // other tags with a number for each ALT
};

inline ScoreTags score_tags(carbon_run* run) {
  carbon::CarbonModels models;
  for (const char* key : carbon::kModelKeys)
    for_header_lines(run, key, [&](const char* line) { models.add(line); });
  ScoreTags out;
  for_header_lines(run, "INFO", [&](const char* line) {
    const carbon::HeaderFields fields = carbon::header_fields(line);
    const std::string tag = carbon::header_field(fields, "ID");
    const std::string type = carbon::header_field(fields, "Type");
    const std::string description = carbon::header_field(fields, "Description");
    if (carbon::header_field(fields, "Number") != "A" || (type != "Float" && type != "Integer")) return;
    // A header may have lost the lines of models; then names and descriptions tell.
    const bool is_named_so = carbon::score_prefix(tag) != tag || carbon::is_label_tag(tag);
    const bool of_carbon =
        models.name(tag) ||
        (is_named_so && (tag.starts_with("CARBON_") || description.starts_with("Carbon ")));
    (of_carbon ? out.of_carbon : out.others).push_back(tag);
  });
  return out;
}

/// "A, B and 3 more" for a message.
inline std::string list_of(const std::vector<std::string>& words) {
  constexpr size_t kShown = 10;
  std::string out;
  for (size_t i = 0; i < std::min(kShown, words.size()); ++i) out += (i > 0 ? ", " : "") + words[i];
  return words.size() > kShown ? out + " and " + std::to_string(words.size() - kShown) + " more" : out;
}

/// Fails with what the input has instead of a clear choice; `option` is the one that is missing, and `wanted`
/// what it needs.
[[noreturn]] inline void fail_without_tag(const std::string& option, const std::string& wanted,
                                          const ScoreTags& tags) {
  if (!tags.of_carbon.empty())
    fail("--" + option + " is missing: " + wanted + "; the scores of the input are " +
         list_of(tags.of_carbon));
  fail("--" + option + " is missing: " + wanted + "; the header has no scores of carbon" +
       (tags.others.empty() ? "" : ", and other numbers in " + list_of(tags.others)));
}

/// The only tag with scores of carbon, where `option` names none.
inline std::string only_score(carbon_run* run, const std::string& option) {
  const ScoreTags tags = score_tags(run);
  if (tags.of_carbon.size() != 1) fail_without_tag(option, "name one INFO tag", tags);
  return tags.of_carbon.front();
}

}  // namespace carbon_plugins
