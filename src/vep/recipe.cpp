#include "src/vep/recipe.hpp"

#include <algorithm>
#include <set>

#include "src/base/error.hpp"
#include "src/base/numbers.hpp"
#include "src/vep/recipes/recipes.hpp"

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

void set_measures(const Setting::Parts& parts, RecipeSettings& settings) {
  settings.measures.clear();
  for (const auto& [name, measure] : kMeasureWords)
    if (names(parts, name)) settings.measures.push_back(measure);
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

SettingList recipe_settings(RecipeSettings& settings) {
  Setting::List recipes{[&](const Setting::Parts& parts) { set_recipes(parts, settings); }, recipe_names()};
  Setting::List levels{[&](const Setting::Parts& parts) { set_levels(parts, settings); },
                       all_words(kScoreLevelWords)};
  Setting::List measures{[&](const Setting::Parts& parts) { set_measures(parts, settings); },
                         all_words(kMeasureWords)};
  Setting::List horizons{[&](const Setting::Parts& parts) { set_horizons(parts, settings); }};
  for (Setting::List* const list : {&recipes, &levels, &horizons}) list->one_part = true;
  horizons.of_numbers = true;
  return {
      Setting("recipe", "LIST",
              "how to score: centered (default), next-token or anchored, or several with commas; or head, of "
              "a fine-tuned model",
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
          "bases after the allele that recipe anchored, or measures l2 and jsd, compare (default: 768); of "
          "anchored a tag for each of several",
          std::move(horizons)),
      Setting("level", "LIST",
              "what recipe centered adds up: bp (single bases; default), token (whole 6-mers, as in the "
              "published tables), or both with a comma",
              std::move(levels)),
      Setting(
          "measure", "LIST",
          "what recipe centered writes: llr (the log-likelihood ratio; default), l2 (the distance of the "
          "hidden states after the variant), jsd (the divergence of the predictions), or several with commas",
          std::move(measures))
          .such_as("llr,l2,jsd"),
      Setting("strand", "STRAND", "strand to read: +, - or both (their mean)", settings.strand, kStrandWords)
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

bool RecipeSettings::wants(Measure measure) const {
  return std::find(measures.begin(), measures.end(), measure) != measures.end();
}

namespace {

bool has_distances(const RecipeSettings& settings) {
  return settings.wants(Measure::l2) || settings.wants(Measure::jsd);
}

// What the values themselves say.
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
  const bool distances = has_distances(settings);
  if (distances && settings.recipes != std::vector<std::string>{"centered"})
    throw SettingError("vep", "measure", "measures l2 and jsd belong to recipe centered alone");
  if (!settings.horizons.empty() && !settings.wants("anchored") && !distances)
    throw SettingError(
        "vep", "horizon",
        "horizon belongs to recipe anchored and to measures l2 and jsd, of which none is chosen");
  if (distances && settings.horizons.size() > 1)
    throw SettingError("vep", "horizon", "measures l2 and jsd have a single horizon");
}

}  // namespace

void check_given(RecipeSettings& settings, const std::vector<std::string>& given) {
  if (!settings.wants("head"))
    for (const Setting& setting : head_settings(settings))
      if (names(given, setting.name))
        throw SettingError("vep", setting.name,
                           setting.name + " belongs to recipe head, which is not chosen");
  if (names(given, "level") && !settings.wants(Measure::llr))
    throw SettingError("vep", "level", "level is that of measure llr, which is not chosen");
  check_combination(settings);
}

std::string idle_setting(const RecipeSettings& settings, const std::vector<std::string>& given) {
  if (settings.wants("centered")) return "";
  const char* const idle = settings.window && !settings.wants("head") ? "window"
                           : names(given, "measure")                  ? "measure"
                                                                      : nullptr;
  return idle ? std::string(idle) + " has no effect: recipe centered, whose it is, is not chosen" : "";
}

RecipeSettings read_recipe_settings(const ReadSettings& read) {
  RecipeSettings settings;
  SettingList list = recipe_settings(settings);
  for (Setting& setting : head_settings(settings)) list.push_back(std::move(setting));
  check_given(settings, read(list));
  return settings;
}

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
  for (const auto& recipe : recipes) {
    std::vector<InfoTag> tags = recipe->tags(prefix);
    for (size_t tag = 0; tag < tags.size(); ++tag) {
      if (recipe->has_log_ratios(tag))
        tags[tag].description += "; negative = the alternative is less likely";
      else if (tag >= recipe->first_measure())
        tags[tag].description += "; 0 or more, larger = a larger change of whatever kind";
      all.push_back(std::move(tags[tag]));
    }
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
          "too_long, multibase, not_in_table, changes_length"};
}

bool is_score_tag(const std::string& tag, const std::string& prefix) {
  if (!tag.starts_with(prefix + "_")) return false;
  const std::string_view own = std::string_view(tag).substr(prefix.size() + 1);
  return std::any_of(std::begin(kRecipes), std::end(kRecipes),
                     [&](const RecipeEntry& entry) { return entry.has_tag(own); });
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
