// The functions of carbon_api that ask the model: scores of sequences and of variants, and continuations.

#include <algorithm>
#include <cstring>

#include "src/generate/continuations.hpp"
#include "src/genome/fasta_alphabet.hpp"
#include "src/plugin/host.hpp"
#include "src/plugin/host_api.hpp"
#include "src/score/sequence_scores.hpp"
#include "src/vep/variant_scores.hpp"

namespace carbon {

namespace {

ScoreLevel score_level(int level) {
  if (level != CARBON_LEVEL_BP && level != CARBON_LEVEL_TOKEN)
    throw Error("plugin", "there is no level " + std::to_string(level));
  return level == CARBON_LEVEL_BP ? ScoreLevel::base : ScoreLevel::token;
}

// Text of a plugin as the commands read it from a file.
std::string as_dna(std::string_view text) {
  std::string bases(text);
  std::transform(bases.begin(), bases.end(), bases.begin(), dna_letter);
  return bases;
}

std::vector<std::string> upper_case(const carbon_score_item* items, size_t count) {
  std::vector<std::string> bases;
  for (size_t i = 0; i < count; ++i) bases.push_back(to_upper(as_dna({items[i].bases, items[i].length})));
  return bases;
}

void hand_over(const SequenceScores& scores, carbon_score_item& item) {
  item.sum = scores.sum;
  item.scored = scores.scored;
  if (item.values) std::copy(scores.values.begin(), scores.values.end(), item.values);
}

}  // namespace

int api_score(carbon_run* handle, int level, carbon_score_item* items, size_t count) {
  PluginRun& run = PluginRun::of(handle);
  return run.guarded(
      [&] {
        const ScoreLevel wanted = score_level(level);
        const std::vector<std::string> bases = upper_case(items, count);
        const std::vector<std::string_view> views(bases.begin(), bases.end());
        score_sequences(run.engine(), wanted, views,
                        [&](size_t i, const SequenceScores& scores) { hand_over(scores, items[i]); });
        return int{CARBON_OK};
      },
      int{CARBON_ERROR});
}

int api_score_ends(carbon_run* handle, int level, carbon_score_item* items, const size_t* from,
                   size_t count) {
  PluginRun& run = PluginRun::of(handle);
  return run.guarded(
      [&] {
        const ScoreLevel wanted = score_level(level);
        const std::vector<std::string> bases = upper_case(items, count);
        std::vector<SequenceEnd> ends;
        for (size_t i = 0; i < count; ++i) ends.push_back({bases[i], from[i]});
        score_ends(run.engine(), wanted, ends,
                   [&](size_t i, const SequenceScores& scores) { hand_over(scores, items[i]); });
        return int{CARBON_OK};
      },
      int{CARBON_ERROR});
}

namespace {

VepStrand vep_strand(int strand) {
  constexpr VepStrand strands[] = {VepStrand::recipe_default, VepStrand::forward, VepStrand::reverse,
                                   VepStrand::both};
  if (strand < 0 || strand >= static_cast<int>(std::size(strands)))
    throw Error("plugin", "there is no strand " + std::to_string(strand));
  return strands[strand];
}

VepOptions vep_options(const carbon_recipe& recipe) {
  VepOptions options;
  if (recipe.recipe != CARBON_CENTERED && recipe.recipe != CARBON_NEXT_TOKEN)
    throw Error("plugin", "there is no recipe " + std::to_string(recipe.recipe));
  options.recipes = {recipe.recipe == CARBON_CENTERED ? Recipe::centered : Recipe::next_token};
  options.strand = vep_strand(recipe.strand);
  if (recipe.window != 0) options.window = recipe.window;
  if (recipe.context != 0) options.context = recipe.context;
  return options;
}

VepOptions vep_options(const carbon_anchored& recipe) {
  VepOptions options;
  options.recipes = {Recipe::anchored};
  options.strand = vep_strand(recipe.strand);
  if (recipe.context != 0) options.anchored_context = recipe.context;
  if (recipe.horizon_count == 0) return options;
  options.horizons.assign(recipe.horizons, recipe.horizons + recipe.horizon_count);
  int64_t last = -1;
  for (const int64_t horizon : options.horizons) {
    if (horizon <= last) throw Error("plugin", "horizons must be 0 or more, and each larger than the last");
    last = horizon;
  }
  return options;
}

void hand_over(const VariantScores& scores, carbon_variant& variant) {
  double* values = variant.values;
  for (const std::vector<double>& tag : scores.values) values = std::copy(tag.begin(), tag.end(), values);
  for (size_t a = 0; variant.flags && a < scores.flags.size(); ++a)
    variant.flags[a] = scores.flags[a] == AlleleFlag::scored ? nullptr : flag_name(scores.flags[a]);
}

// `recipe` is what vep_options() takes.
template <class Settings>
int score_with(carbon_run* handle, carbon_fasta* fasta, const Settings* recipe, carbon_variant* variants,
               size_t count) {
  PluginRun& run = PluginRun::of(handle);
  return run.guarded(
      [&] {
        const VepOptions options = vep_options(*recipe);
        std::vector<PlacedVariant> placed;
        for (size_t i = 0; i < count; ++i) {
          const carbon_variant& v = variants[i];
          placed.push_back({v.contig, {v.pos, v.ref, {v.alts, v.alts + v.alt_count}}});
        }
        score_variants(run.engine(), fasta->fasta, options, placed,
                       [&](size_t i, const VariantScores& scores) { hand_over(scores, variants[i]); });
        return int{CARBON_OK};
      },
      int{CARBON_ERROR});
}

}  // namespace

int api_score_variants(carbon_run* run, carbon_fasta* fasta, const carbon_recipe* recipe,
                       carbon_variant* variants, size_t count) {
  return score_with(run, fasta, recipe, variants, count);
}

int api_score_anchored(carbon_run* run, carbon_fasta* fasta, const carbon_anchored* recipe,
                       carbon_variant* variants, size_t count) {
  return score_with(run, fasta, recipe, variants, count);
}

namespace {

SamplerOptions sampler_options(const carbon_sampler& sampler) {
  constexpr SamplerKind kinds[] = {SamplerKind::kmer, SamplerKind::marginal, SamplerKind::chain};
  if (sampler.kind < 0 || sampler.kind >= static_cast<int>(std::size(kinds)))
    throw Error("plugin", "there is no sampler " + std::to_string(sampler.kind));
  if (!(sampler.temperature > 0) || !(sampler.top_p > 0 && sampler.top_p <= 1))
    throw Error("plugin", "a sampler's temperature must be above 0, and its top_p above 0 and at most 1");
  return {kinds[sampler.kind], sampler.greedy != 0, sampler.temperature, static_cast<size_t>(sampler.top_k),
          sampler.top_p,       sampler.seed};
}

}  // namespace

int api_generate(carbon_run* handle, const carbon_sampler* sampler, size_t new_bases,
                 carbon_generate_item* items, size_t count) {
  PluginRun& run = PluginRun::of(handle);
  return run.guarded(
      [&] {
        std::vector<std::string> bases;
        for (size_t i = 0; i < count; ++i) bases.push_back(as_dna({items[i].prompt, items[i].length}));
        std::vector<NumberedPrompt> prompts;
        for (size_t i = 0; i < count; ++i) prompts.push_back({items[i].record, bases[i]});
        generate_bases(run.engine(), sampler_options(*sampler), new_bases, prompts,
                       [&](size_t i, const Continuation& continuation) {
                         const std::string& drawn = continuation.bases;
                         std::memcpy(items[i].bases, drawn.c_str(), drawn.size() + 1);
                         items[i].logp = continuation.logp;
                       });
        return int{CARBON_OK};
      },
      int{CARBON_ERROR});
}

}  // namespace carbon
