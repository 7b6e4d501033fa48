#include "src/vep/recipe.hpp"

#include <algorithm>

#include "src/base/error.hpp"
#include "src/vep/recipes/anchored.hpp"
#include "src/vep/recipes/centered.hpp"
#include "src/vep/recipes/next_token.hpp"
#include "tokenizer/kmer.hpp"

namespace carbon {
namespace {

constexpr RecipeEntry kRecipes[] = {kCentered, kNextToken, kAnchored};

std::string strand_text(const std::vector<Strand>& strands) {
  const StrandChoice read = strands.size() > 1                   ? StrandChoice::both
                            : strands.front() == Strand::forward ? StrandChoice::forward
                                                                 : StrandChoice::reverse;
  return word_of(kStrandWords, read);
}

}  // namespace

std::span<const RecipeEntry> recipe_table() {
  return kRecipes;
}

std::vector<std::string> recipe_names() {
  std::vector<std::string> names;
  for (const RecipeEntry& entry : kRecipes) names.emplace_back(entry.name);
  return names;
}

RecipeList make_recipes(const RecipeSettings& settings, const ModelConfig& config) {
  RecipeList recipes;
  for (const RecipeEntry& entry : kRecipes)
    if (settings.wants(entry.name)) recipes.push_back(entry.make(settings, config));
  return recipes;
}

Settings settings_of(const RecipeList& recipes) {
  std::string names, strands;
  for (const auto& recipe : recipes) {
    const std::string joint = names.empty() ? "" : "+";
    names += joint + recipe->name();
    strands += (joint.empty() ? "" : "/") + strand_text(recipe->strands());
  }
  Settings settings = {{"recipe", names}};
  for (const char* const name : {"window", "phases", "context", "horizon"}) {
    std::vector<std::string> values;
    for (const auto& recipe : recipes)
      for (const auto& [size, value] : recipe->sizes())
        if (size == name) values.push_back(value);
    if (values.empty()) continue;
    std::string text = values.front();
    // The phases are one choice for all recipes.
    for (size_t i = 1; i < values.size() && std::string_view(name) != "phases"; ++i) text += "/" + values[i];
    settings.emplace_back(name, text);
  }
  settings.emplace_back("strand", strands);
  return settings;
}

std::vector<InfoTag> score_tags(const RecipeList& recipes, const std::string& prefix) {
  std::vector<InfoTag> all;
  for (const auto& recipe : recipes)
    for (InfoTag& tag : recipe->tags(prefix)) {
      tag.description += "; negative = the alternative is less likely";
      all.push_back(std::move(tag));
    }
  return all;
}

InfoTag flag_tag(const std::string& prefix) {
  return {prefix + "_FLAG", "A", "String",
          "Why a Carbon score is missing: no_contig, edge, symbolic, star, non_acgt, ref_mismatch, "
          "too_long, multibase"};
}

bool is_score_tag(const std::string& tag, const std::string& prefix) {
  return std::any_of(std::begin(kRecipes), std::end(kRecipes), [&](const RecipeEntry& entry) {
    const std::string own = prefix + "_" + entry.tag;
    if (tag == own) return true;
    return entry.tag_with_numbers && tag.starts_with(own + "_") && tag.size() > own.size() + 1 &&
           tag.find_first_not_of("0123456789", own.size() + 1) == std::string::npos;
  });
}

int phases_of(const NormalAllele& allele, PhaseChoice choice) {
  if (choice == PhaseChoice::automatic) return allele.ref.size() == allele.alt.size() ? 1 : kPhases;
  return choice == PhaseChoice::one ? 1 : kPhases;
}

std::vector<Strand> strands_of(std::optional<StrandChoice> choice, StrandChoice by_default) {
  const StrandChoice read = choice.value_or(by_default);
  std::vector<Strand> strands;
  if (read != StrandChoice::reverse) strands.push_back(Strand::forward);
  if (read != StrandChoice::forward) strands.push_back(Strand::reverse);
  return strands;
}

void check_fits(const std::string& what, int64_t bases, const ModelConfig& config, AdviceTopic advice) {
  const size_t positions = config.sequence_positions();
  const auto largest = static_cast<int64_t>(kKmerLength * (positions - 1));
  if (bases > largest)
    throw SettingError("vep", what,
                       "a " + what + " of " + std::to_string(bases) +
                           " bp does not fit the model's context of " + std::to_string(positions) +
                           " tokens; the largest that fits is " + std::to_string(largest) + " bp",
                       {advice});
}

}  // namespace carbon
