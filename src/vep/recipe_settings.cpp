#include "src/vep/recipe_settings.hpp"

#include <algorithm>
#include <charconv>
#include <set>
#include <sstream>

#include "src/base/lists.hpp"
#include "src/base/settings.hpp"
#include "src/vep/recipe.hpp"

namespace carbon {
namespace {

constexpr int64_t kMostBases = 1'000'000'000;

std::optional<int64_t> parse_bases(std::string_view text) {
  int64_t bp = -1;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), bp);
  if (problem != std::errc() || end != text.data() + text.size() || bp < 0 || bp > kMostBases)
    return std::nullopt;
  return bp;
}

int64_t bases_setting(const std::string& name, const std::string& text) {
  if (const auto bp = parse_bases(text)) return *bp;
  throw SettingError("vep", name, name + " '" + text + "': expected a number of bases, 0 or more");
}

// Some of `names`, joined by commas.
std::set<std::string> parse_names(const std::string& setting, const std::string& text,
                                  const std::vector<std::string>& names) {
  std::set<std::string> chosen;
  for (const std::string_view part : split(text, ',')) {
    const std::string name(part);
    if (std::find(names.begin(), names.end(), name) == names.end())
      throw SettingError(
          "vep", setting,
          setting + " " + text + ": expected " + or_list(names) + ", or several joined by commas");
    if (!chosen.insert(name).second)
      throw SettingError("vep", setting, setting + " " + text + " names a " + setting + " twice");
  }
  return chosen;
}

}  // namespace

bool RecipeSettings::wants(std::string_view recipe) const {
  return std::find(recipes.begin(), recipes.end(), recipe) != recipes.end();
}

ModelUse RecipeSettings::use() const {
  return wants("head") ? ModelUse::labels : ModelUse::bases;
}

bool RecipeSettings::wants(ScoreLevel level) const {
  return std::find(levels.begin(), levels.end(), level) != levels.end();
}

// The order of tags in a record does not depend on how a list was written.
std::vector<std::string> parse_recipes(const std::string& text) {
  const std::set<std::string> chosen = parse_names("recipe", text, recipe_names());
  std::vector<std::string> recipes;
  for (const RecipeEntry& entry : recipe_table())
    if (chosen.contains(entry.name)) recipes.emplace_back(entry.name);
  return recipes;
}

std::vector<ScoreLevel> parse_levels(const std::string& text) {
  const std::set<std::string> chosen = parse_names("level", text, all_words(kScoreLevelWords));
  std::vector<ScoreLevel> levels;
  for (const auto& [name, level] : kScoreLevelWords)
    if (chosen.contains(name)) levels.push_back(level);
  return levels;
}

std::vector<int64_t> parse_horizons(const std::string& text) {
  std::set<int64_t> horizons;
  std::istringstream in(text + (text.ends_with(',') ? "," : ""));
  for (std::string word; std::getline(in, word, ',');) {
    const auto bp = parse_bases(word);
    if (!bp)
      throw SettingError("vep", "horizon",
                         "horizon '" + text + "': expected numbers of bases, 0 or more, joined by commas");
    if (!horizons.insert(*bp).second)
      throw SettingError("vep", "horizon", "horizon " + text + " names a horizon twice");
  }
  return {horizons.begin(), horizons.end()};
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

RecipeSettings parse_recipe_settings(const std::string& text) {
  RecipeSettings settings;
  using Text = const std::string&;
  read_settings(
      text,
      {{"recipe", [&](Text, Text value) { settings.recipes = parse_recipes(value); }},
       {"level", [&](Text, Text value) { settings.levels = parse_levels(value); }},
       {"strand", [&](Text name, Text value) { settings.strand = word_setting(name, value, kStrandWords); }},
       {"phases", [&](Text name, Text value) { settings.phases = word_setting(name, value, kPhaseWords); }},
       {"window", [&](Text name, Text value) { settings.window = bases_setting(name, value); }},
       {"context", [&](Text name, Text value) { settings.context = bases_setting(name, value); }},
       {"horizon", [&](Text, Text value) { settings.horizons = parse_horizons(value); }}});
  check_combination(settings);
  return settings;
}

}  // namespace carbon
