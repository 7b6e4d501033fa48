#include "src/vep/recipe.hpp"

#include <algorithm>

#include "src/base/error.hpp"
#include "src/vep/recipes/anchored.hpp"
#include "src/vep/recipes/centered.hpp"
#include "src/vep/recipes/head.hpp"
#include "src/vep/recipes/next_token.hpp"

namespace carbon {
namespace {

constexpr RecipeEntry kRecipes[] = {kCentered, kNextToken, kAnchored, kHeadRecipe};

std::string strand_text(const std::vector<Strand>& strands) {
  const StrandChoice read = strands.size() > 1                   ? StrandChoice::both
                            : strands.front() == Strand::forward ? StrandChoice::forward
                                                                 : StrandChoice::reverse;
  return word_of(kStrandWords, read);
}

Settings with_sizes(const Recipe& recipe, Settings sizes) {
  sizes.insert(sizes.begin(), {"recipe", recipe.name()});
  sizes.emplace_back("strand", strand_text(recipe.strands()));
  return sizes;
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

RecipeList make_recipes(RecipeSettings settings, const Checkpoint& checkpoint, Log& log) {
  check_use(checkpoint, settings.use());
  if (settings.use() == ModelUse::labels)
    settings.values = std::make_shared<LabelValues>(checkpoint, settings.labels, log);
  return make_recipes(settings, checkpoint.config());
}

Settings settings_of(const Recipe& recipe) {
  return with_sizes(recipe, recipe.sizes());
}

std::vector<InfoTag> score_tags(const RecipeList& recipes, const std::string& prefix) {
  std::vector<InfoTag> all;
  for (const auto& recipe : recipes)
    for (InfoTag& tag : recipe->tags(prefix)) {
      if (recipe->has_log_ratios()) tag.description += "; negative = the alternative is less likely";
      all.push_back(std::move(tag));
    }
  return all;
}

std::vector<std::string> tag_settings(const RecipeList& recipes) {
  std::vector<std::string> all;
  for (const auto& recipe : recipes)
    for (size_t tag = 0; tag < recipe->tag_count(); ++tag)
      all.push_back(header_text(with_sizes(*recipe, recipe->tag_sizes(tag))));
  return all;
}

InfoTag flag_tag(const std::string& prefix) {
  return {prefix + "_FLAG", "A", "String",
          "Why a Carbon score is missing: no_contig, edge, symbolic, star, non_acgt, ref_mismatch, "
          "too_long, multibase, not_in_table"};
}

bool is_score_tag(const std::string& tag, const std::string& prefix) {
  return std::any_of(std::begin(kRecipes), std::end(kRecipes), [&](const RecipeEntry& entry) {
    const std::string own = prefix + "_" + entry.tag;
    if (!tag.starts_with(own)) return false;
    const std::string rest = tag.substr(own.size()), further = entry.further;
    // Ranks of tags are no scores.
    if (further.ends_with('*')) {
      const std::string start = further.substr(0, further.size() - 1);
      return rest.starts_with(start) && rest.size() > start.size() && !rest.ends_with("_PHRED");
    }
    if (rest.empty() || rest == further) return true;
    const size_t number = further.find('#');
    return number != std::string::npos && rest.size() > number &&
           rest.starts_with(further.substr(0, number)) &&
           rest.find_first_not_of("0123456789", number) == std::string::npos;
  });
}

int phases_of(const NormalAllele& allele, PhaseChoice choice, int bases) {
  if (choice == PhaseChoice::automatic) return allele.ref.size() == allele.alt.size() ? 1 : bases;
  return choice == PhaseChoice::one ? 1 : bases;
}

std::vector<Strand> strands_of(std::optional<StrandChoice> choice, StrandChoice by_default) {
  const StrandChoice read = choice.value_or(by_default);
  std::vector<Strand> strands;
  if (read != StrandChoice::reverse) strands.push_back(Strand::forward);
  if (read != StrandChoice::forward) strands.push_back(Strand::reverse);
  return strands;
}

namespace {

int64_t largest_window(const ModelConfig& config) {
  return static_cast<int64_t>(config.layout.bases() * (config.sequence_positions() - 1));
}

}  // namespace

int64_t default_bases(int64_t usual, const ModelConfig& config) {
  return config.layout.family->defaults_fit ? std::min(usual, largest_window(config)) : usual;
}

void check_phases(PhaseChoice choice, const ModelConfig& config) {
  if (choice == PhaseChoice::all && config.layout.bases() == 1)
    throw SettingError("vep", "phases",
                       "phases 6 cannot be used with a model of one base a token, which has a single phase; "
                       "expected auto or 1");
}

void check_fits(const std::string& what, int64_t bases, const ModelConfig& config) {
  const size_t positions = config.sequence_positions();
  const int64_t largest = largest_window(config);
  if (bases > largest)
    throw SettingError("vep", what,
                       "a " + what + " of " + std::to_string(bases) +
                           " bp does not fit the model's context of " + std::to_string(positions) +
                           " tokens; the largest that fits is " + std::to_string(largest) + " bp",
                       {"set it with {--" + what + "}"});
}

}  // namespace carbon
