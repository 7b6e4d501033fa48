#include "src/vep/recipe_settings.hpp"

#include <algorithm>
#include <charconv>
#include <set>
#include <sstream>

#include "src/base/settings.hpp"
#include "src/vep/recipe.hpp"

namespace carbon {
namespace {

constexpr int64_t kMostBases = 1'000'000'000;

bool is_number_of_bases(int64_t bp) {
  return bp >= 0 && bp <= kMostBases;
}

int64_t bases_setting(const std::string& name, const std::string& text) {
  const std::string expected = "a number of bases, 0 or more";
  const auto bp = number_setting<int64_t>(name, text, expected);
  if (!is_number_of_bases(bp)) throw SettingError(name, name + " '" + text + "': expected " + expected);
  return bp;
}

}  // namespace

bool RecipeSettings::wants(std::string_view recipe) const {
  return std::find(recipes.begin(), recipes.end(), recipe) != recipes.end();
}

std::vector<std::string> parse_recipes(const std::string& text) {
  std::set<std::string> chosen;
  std::istringstream in(text.empty() ? "," : text);  // no name is a wrong one
  const std::span<const RecipeEntry> table = recipe_table();
  for (std::string name; std::getline(in, name, ',');) {
    if (std::none_of(table.begin(), table.end(),
                     [&](const RecipeEntry& entry) { return name == entry.name; }))
      throw SettingError("recipe", "recipe " + text + ": expected " + or_list(recipe_names()) +
                                       ", or several joined by commas");
    if (!chosen.insert(name).second) throw SettingError("recipe", "recipe " + text + " names a recipe twice");
  }
  // The order of tags in a record does not depend on how the list was written.
  std::vector<std::string> recipes;
  for (const RecipeEntry& entry : table)
    if (chosen.contains(entry.name)) recipes.emplace_back(entry.name);
  return recipes;
}

std::vector<int64_t> parse_horizons(const std::string& text) {
  std::set<int64_t> horizons;
  std::istringstream in(text + (text.ends_with(',') ? "," : ""));
  for (std::string word; std::getline(in, word, ',');) {
    int64_t bp = -1;
    const auto [end, problem] = std::from_chars(word.data(), word.data() + word.size(), bp);
    if (problem != std::errc() || end != word.data() + word.size() || !is_number_of_bases(bp))
      throw SettingError("horizon",
                         "horizon '" + text + "': expected numbers of bases, 0 or more, joined by commas");
    if (!horizons.insert(bp).second)
      throw SettingError("horizon", "horizon " + text + " names a horizon twice");
  }
  return {horizons.begin(), horizons.end()};
}

void check_combination(const RecipeSettings& settings) {
  if (settings.context && settings.wants("next-token") && settings.wants("anchored"))
    throw SettingError(
        "context",
        "context means something else for each of the recipes next-token and anchored: run them one "
        "after the other");
  if (!settings.horizons.empty() && !settings.wants("anchored"))
    throw SettingError("horizon", "horizon belongs to recipe anchored, which is not chosen");
}

RecipeSettings parse_recipe_settings(const std::string& text) {
  RecipeSettings settings;
  read_settings(text, [&](const std::string& name, const std::string& value) {
    if (name == "recipe") {
      settings.recipes = parse_recipes(value);
    } else if (name == "strand") {
      settings.strand = word_setting(name, value, kStrandWords);
    } else if (name == "phases") {
      settings.phases = word_setting(name, value, kPhaseWords);
    } else if (name == "window") {
      settings.window = bases_setting(name, value);
    } else if (name == "context") {
      settings.context = bases_setting(name, value);
    } else if (name == "horizon") {
      settings.horizons = parse_horizons(value);
    } else {
      unknown_setting(name, {"recipe", "strand", "phases", "window", "context", "horizon"});
    }
  });
  check_combination(settings);
  return settings;
}

}  // namespace carbon
