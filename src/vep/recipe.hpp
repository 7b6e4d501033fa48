// Recipes: from which sequences the score of a variant is computed (docs/recipes.md). What a user chooses of
// them comes in, in the words of the command line, which options, requests of the server and plugins fill in;
// what comes out are recipes that plan windows. Each is one file of recipes/, a part of
// recipes/recipes.hpp and one line of recipe_table(); nothing else knows how many there are.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/base/log.hpp"
#include "src/base/settings.hpp"
#include "src/base/words.hpp"
#include "src/formats/sequence_inputs.hpp"
#include "src/formats/vcf.hpp"
#include "src/model/checkpoint.hpp"
#include "src/model/config.hpp"
#include "src/model/model_use.hpp"
#include "src/pooling/label_values.hpp"
#include "src/pooling/pooled_rows.hpp"
#include "src/sampling/base_scores.hpp"
#include "src/vep/measures.hpp"
#include "src/vep/site.hpp"

namespace carbon {

/// In how many phases an allele is read (kMostPhases): all if it changes the length and else one, one, or
/// all.
enum class PhaseChoice { automatic, one, all };
inline constexpr Word<PhaseChoice> kPhaseWords[] = {
    {"auto", PhaseChoice::automatic}, {"1", PhaseChoice::one}, {"6", PhaseChoice::all}};

/// What is not given is the recipe's default.
struct RecipeSettings {
  std::vector<std::string> recipes = {"centered"};      // in the order of recipe_table()
  std::vector<ScoreLevel> levels = {ScoreLevel::base};  // of recipe centered, in the order of their words
  std::vector<Measure> measures = {Measure::llr};       // of recipe centered, in the order of their words
  std::optional<StrandChoice> strand;
  PhaseChoice phases = PhaseChoice::automatic;
  std::optional<int64_t> window, context;  // bp
  std::vector<int64_t> horizons;           // bp; they ascend; of measures at most one

  // Of recipe head: the row of a window that is read, its labels, and what make_recipes() makes of these.
  Pooling pooling;
  LabelSettings labels;
  std::shared_ptr<const LabelValues> values;

  bool wants(std::string_view recipe) const;
  bool wants(ScoreLevel level) const;
  bool wants(Measure measure) const;
  /// What the recipes want of the model.
  ModelUse use() const;
};

/// Those of the recipes, and those of recipe head alone.
SettingList recipe_settings(RecipeSettings& settings);
SettingList head_settings(RecipeSettings& settings);
/// Throws SettingError for a setting that no chosen recipe or measure has, and for one that two of them
/// understand differently. `given` are the names of the settings that were given.
void check_given(RecipeSettings& settings, const std::vector<std::string>& given);
/// A setting that is accepted and changes nothing, with the reason, in a sentence that begins with its name;
/// "" if there is none.
std::string idle_setting(const RecipeSettings& settings, const std::vector<std::string>& given);

/// Reads all of them. Throws SettingError, also for what cannot be combined.
RecipeSettings read_recipe_settings(const ReadSettings& read);

/// Phase f reads the window of an allele from f bases further along, in reading direction. An allele that
/// changes the length moves the grid of tokens after it. The mean over all phases, as many as a token has
/// bases, does not depend on the grid. No model has more phases than this:
inline constexpr int kMostPhases = ops::kBases;

/// Which alleles a recipe scores, by the bases of the longer of REF and ALT.
struct AlleleLimits {
  int64_t scored;     // the longest that is scored
  AlleleFlag beyond;  // why longer ones are not
  /// A structural allele of more bases has the flag `beyond` without a look at its letters.
  int64_t spelled_out;
};

/// What a site is planned with.
struct Planning {
  TokenLayout layout;
  ScoreCache* cache = nullptr;  // null: none
  bool means = false;           // mean hidden states are wanted beside the scores
  size_t pool = 0;              // of so many k-mers from the first that is read differently; 0: of windows
};

/// A recipe with its sizes, which fit the model that it was made for.
class Recipe {
 public:
  virtual ~Recipe() = default;

  virtual const char* name() const = 0;
  /// What its scores depend on besides the model and the strands, under the names of RecipeSettings.
  virtual Settings sizes() const = 0;
  /// The same for one of its tags alone.
  virtual Settings tag_sizes(size_t /*tag*/) const { return sizes(); }
  virtual std::vector<Strand> strands() const = 0;
  /// The INFO tags of its scores, in the order in which records have them.
  virtual std::vector<InfoTag> tags(const std::string& prefix) const = 0;
  virtual size_t tag_count() const { return 1; }
  /// The index of its first tag that holds a distance, 0 or more, instead of a log-ratio; alleles that change
  /// the length have no distance. All tags after it are distances, too. tag_count() if it has no such tag.
  virtual size_t first_measure() const { return tag_count(); }
  /// Whether the values of a tag are log-likelihood ratios, low where the model finds the alternative
  /// unlikely.
  virtual bool has_log_ratios(size_t tag) const { return tag < first_measure(); }
  /// What a run is to warn of once; "" for nothing.
  virtual std::string warning() const { return ""; }
  virtual AlleleLimits limits() const = 0;
  /// The contig bases that the windows of an allele can need.
  virtual BaseRange reach(const NormalAllele& form, const ContigReference& reference) const = 0;
  /// Whether sites that are planned together share windows.
  virtual bool shares_windows() const { return false; }
  /// Makes the windows of the alleles in site.recipes[own] of each site, and adds their requests to the
  /// sites. Taken in their order, the sites have each parent before its children. Ratios in the cache are
  /// taken from it.
  virtual void plan(std::span<const PlacedSite> sites, size_t own, const Planning& with) const = 0;
};

using RecipeList = std::vector<std::unique_ptr<const Recipe>>;

/// How a recipe is found and made.
struct RecipeEntry {
  const char* name;
  const char* tag;  // of its scores, or how their tags begin, without the prefix of a run
  /// True for every tag, without the prefix of a run, that it may write.
  bool (*has_tag)(std::string_view tag);
  /// Throws SettingError for a size that does not fit the model.
  std::unique_ptr<const Recipe> (*make)(const RecipeSettings&, const ModelConfig&);
};
/// All recipes, in the order in which records have their tags.
std::span<const RecipeEntry> recipe_table();
std::vector<std::string> recipe_names();

/// The recipes that are chosen, in the order of the table. Throws SettingError.
RecipeList make_recipes(const RecipeSettings& settings, const ModelConfig& config);
/// The same with what a recipe needs of the weights themselves. Throws Error also for a model that cannot be
/// used so (check_use()).
RecipeList make_recipes(RecipeSettings settings, const Checkpoint& checkpoint, Log& log);

/// What the scores of a recipe depend on besides the input and the model: {"recipe", "centered"}, {"window",
/// "8192"}, ... in the order of header lines.
Settings settings_of(const Recipe& recipe);

/// The INFO tags of all recipes, in the order in which records have them.
std::vector<InfoTag> score_tags(const RecipeList& recipes, const std::string& prefix);
/// What the scores of each of these tags depend on, as header_text() of settings like settings_of().
std::vector<std::string> tag_settings(const RecipeList& recipes);
/// The tag that says why a score is missing.
InfoTag flag_tag(const std::string& prefix);
/// True for a tag that a run of any recipe with this prefix may have written.
bool is_score_tag(const std::string& tag, const std::string& prefix);

/// For the recipes: the number of phases in which an allele is read, the strands of a choice, and an Error if
/// the bases of a window or context (`what`, also the name of the setting) do not fit the model.
/// `bases` are those of a token.
int phases_of(const NormalAllele& allele, PhaseChoice choice, int bases);
std::vector<Strand> strands_of(std::optional<StrandChoice> choice, StrandChoice by_default);
/// `usual` bases as a default: fewer if the family shortens its defaults to what fits.
int64_t default_bases(int64_t usual, const ModelConfig& config);
/// Throws SettingError for phases that tokens of one base do not have.
void check_phases(PhaseChoice choice, const ModelConfig& config);
void check_fits(const std::string& what, int64_t bases, const ModelConfig& config);

}  // namespace carbon
