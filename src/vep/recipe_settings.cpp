#include "src/vep/recipe_settings.hpp"

#include <algorithm>
#include <set>

#include "src/base/numbers.hpp"
#include "src/vep/recipe.hpp"

namespace carbon {
namespace {

constexpr int64_t kMostBases = 1'000'000'000;

bool names(const Setting::Parts& parts, std::string_view name) {
  return std::find(parts.begin(), parts.end(), name) != parts.end();
}

// The order of tags in a record does not depend on how a list was written.
void set_recipes(const Setting::Parts& parts, RecipeSettings& settings) {
  settings.recipes.clear();
  for (const RecipeEntry& entry : recipe_table())
    if (names(parts, entry.name)) settings.recipes.emplace_back(entry.name);
}

void set_levels(const Setting::Parts& parts, RecipeSettings& settings) {
  settings.levels.clear();
  for (const auto& [name, level] : kScoreLevelWords)
    if (names(parts, name)) settings.levels.push_back(level);
}

void set_horizons(const Setting::Parts& parts, RecipeSettings& settings) {
  const std::string text = joined(parts, ",");
  std::set<int64_t> horizons;
  for (const std::string& part : parts) {
    int64_t bp = -1;
    if (!parse_number(part, bp) || bp < 0 || bp > kMostBases)
      throw SettingError("vep", "horizon",
                         "horizon '" + text + "': expected numbers of bases, 0 or more, joined by commas");
    if (!horizons.insert(bp).second)
      throw SettingError("vep", "horizon", "horizon " + text + " names a horizon twice");
  }
  settings.horizons = {horizons.begin(), horizons.end()};
}

}  // namespace

SettingList recipe_settings(RecipeSettings& settings) {
  Setting::List recipes{[&](const Setting::Parts& parts) { set_recipes(parts, settings); }, recipe_names()};
  Setting::List levels{[&](const Setting::Parts& parts) { set_levels(parts, settings); },
                       all_words(kScoreLevelWords)};
  Setting::List horizons{[&](const Setting::Parts& parts) { set_horizons(parts, settings); }};
  for (Setting::List* const list : {&recipes, &levels, &horizons}) list->one_part = true;
  horizons.of_numbers = true;
  return {
      Setting("recipe", "LIST",
              "centered (default), next-token or anchored, or several with commas; or head, of a fine-tuned "
              "model",
              std::move(recipes)),
      Setting("window", "BP",
              "window of recipe centered in bp, even; of recipe head, for which it is required",
              &settings.window)
          .letter_is('w')
          .range(0, kMostBases)
          .otherwise("8192"),
      Setting("context", "BP",
              "left context in bp of recipe next-token (default: 24000; GENERator: 8192) or anchored",
              &settings.context)
          .range(0, kMostBases)
          .otherwise("4098"),
      Setting(
          "horizon", "BP[,BP...]",
          "bases after the allele that recipe anchored compares (default: 768); a tag for each of several",
          std::move(horizons)),
      Setting("level", "LIST",
              "of recipe centered: bp (default), single bases, or token, whole 6-mers as in the published "
              "tables, or both with a comma",
              std::move(levels)),
      Setting("strand", "STRAND", "+, - or both", settings.strand, kStrandWords)
          .otherwise("both, but + for next-token"),
      Setting("phases", "auto|1|6",
              "mean over 1 or 6 phases of the window; auto (default): 6 where the allele changes the length, "
              "but 1 for head",
              settings.phases, kPhaseWords)};
}

SettingList head_settings(RecipeSettings& settings) {
  SettingList list = label_settings(settings.pooling, settings.labels);
  for (Setting& setting : list) setting.not_at(Door::plugin, "plugins have no recipe head");
  return list;
}

bool RecipeSettings::wants(std::string_view recipe) const {
  return std::find(recipes.begin(), recipes.end(), recipe) != recipes.end();
}

ModelUse RecipeSettings::use() const {
  return wants("head") ? ModelUse::labels : ModelUse::bases;
}

bool RecipeSettings::wants(ScoreLevel level) const {
  return std::find(levels.begin(), levels.end(), level) != levels.end();
}

void check_combination(const RecipeSettings& settings) {
  if (settings.wants("head") && settings.recipes.size() > 1)
    throw SettingError(
        "vep", "recipe",
        "recipe head cannot be combined with others, which need a model of another kind: run them "
        "one after the other");
  if (settings.context && settings.wants("next-token") && settings.wants("anchored"))
    throw SettingError(
        "vep", "context",
        "context means something else for each of the recipes next-token and anchored: run them one "
        "after the other");
  if (settings.wants(ScoreLevel::token) && settings.recipes != std::vector<std::string>{"centered"})
    throw SettingError("vep", "level", "level token belongs to recipe centered alone");
  // Beside next-token alone a window was always accepted, and scripts give it; idle_setting() is told to the
  // user.
  if (settings.window && settings.wants("anchored") && !settings.wants("centered"))
    throw SettingError("vep", "window", "window belongs to recipe centered, which is not chosen");
  if (settings.context && !settings.wants("next-token") && !settings.wants("anchored"))
    throw SettingError("vep", "context",
                       "context belongs to recipes next-token and anchored, of which none is chosen");
  if (!settings.horizons.empty() && !settings.wants("anchored"))
    throw SettingError("vep", "horizon", "horizon belongs to recipe anchored, which is not chosen");
}

std::string idle_setting(const RecipeSettings& settings) {
  const bool idle = settings.window && !settings.wants("centered") && !settings.wants("head");
  return idle ? "window has no effect: recipe centered, whose it is, is not chosen" : "";
}

void check_head_settings(RecipeSettings& settings, const std::vector<std::string>& given) {
  if (settings.wants("head")) return;
  for (const Setting& setting : head_settings(settings))
    if (std::find(given.begin(), given.end(), setting.name) != given.end())
      throw SettingError("vep", setting.name, setting.name + " belongs to recipe head, which is not chosen");
}

RecipeSettings read_recipe_settings(const ReadSettings& read) {
  RecipeSettings settings;
  SettingList list = recipe_settings(settings);
  for (Setting& setting : head_settings(settings)) list.push_back(std::move(setting));
  check_head_settings(settings, read(list));
  check_combination(settings);
  return settings;
}

}  // namespace carbon
