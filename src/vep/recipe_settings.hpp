// What a user chooses about the scores of variants: the recipes and their sizes, in the words of the command
// line. Options, requests of the server and plugins fill it in; recipe.hpp makes recipes of it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/settings.hpp"
#include "src/base/words.hpp"
#include "src/formats/sequence_inputs.hpp"
#include "src/marginals/level.hpp"
#include "src/model/model_use.hpp"
#include "src/pooling/label_values.hpp"
#include "src/pooling/pooled_rows.hpp"

namespace carbon {

/// In how many phases an allele is read (recipe.hpp): all if it changes the length and else one, one, or all.
enum class PhaseChoice { automatic, one, all };
inline constexpr Word<PhaseChoice> kPhaseWords[] = {
    {"auto", PhaseChoice::automatic}, {"1", PhaseChoice::one}, {"6", PhaseChoice::all}};

/// What is not given is the recipe's default.
struct RecipeSettings {
  std::vector<std::string> recipes = {"centered"};      // in the order of recipe_table()
  std::vector<ScoreLevel> levels = {ScoreLevel::base};  // of recipe centered, in the order of their words
  std::optional<StrandChoice> strand;
  PhaseChoice phases = PhaseChoice::automatic;
  std::optional<int64_t> window, context;  // bp
  std::vector<int64_t> horizons;           // bp; they ascend

  // Of recipe head: the row of a window that is read, its labels, and what make_recipes() makes of these.
  Pooling pooling;
  LabelSettings labels;
  std::shared_ptr<const LabelValues> values;

  bool wants(std::string_view recipe) const;
  bool wants(ScoreLevel level) const;
  /// What the recipes want of the model.
  ModelUse use() const;
};

/// Those of the recipes, and those of recipe head alone.
SettingList recipe_settings(RecipeSettings& settings);
SettingList head_settings(RecipeSettings& settings);
/// Throws SettingError if settings of recipe head are given and it is not chosen.
void check_head_settings(RecipeSettings& settings, const std::vector<std::string>& given);
/// Throws SettingError for a setting that no chosen recipe has, and for one that two of them understand
/// differently.
void check_combination(const RecipeSettings& settings);
/// A setting that is accepted and changes nothing, with the reason, in a sentence that begins with its name;
/// "" if there is none.
std::string idle_setting(const RecipeSettings& settings);

/// Reads all of them. Throws SettingError, also for what cannot be combined.
RecipeSettings read_recipe_settings(const ReadSettings& read);

}  // namespace carbon
