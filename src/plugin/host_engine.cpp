// The functions of carbon_api that ask the model: scores of sequences and of variants, and continuations.

#include <algorithm>
#include <cstring>

#include "src/base/settings.hpp"
#include "src/formats/fasta.hpp"
#include "src/generate/requests.hpp"
#include "src/plugin/host.hpp"
#include "src/score/sequence_scores.hpp"
#include "src/vep/variant_scores.hpp"

namespace carbon {

namespace {

ScoreOptions score_options(const std::string& settings) {
  ScoreOptions options;
  read_settings(settings, score_settings(options));
  return options;
}

GenerateOptions generate_options(const std::string& settings, size_t new_bases) {
  GenerateOptions options;
  read_settings(settings, generate_settings(options));
  options.length = new_bases;
  check_generate_options(options);
  return options;
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

int api_score(carbon_run* handle, const char* settings, carbon_score_item* items, size_t count) {
  PluginRun& run = PluginRun::of(handle);
  return run.guarded(
      [&] {
        const ScoreOptions wanted = score_options(settings);
        const std::vector<std::string> bases = upper_case(items, count);
        const std::vector<std::string_view> views(bases.begin(), bases.end());
        score_sequences(run.engine(), wanted, views,
                        [&](size_t i, const SequenceScores& scores) { hand_over(scores, items[i]); });
        return int{CARBON_DONE};
      },
      int{CARBON_ERROR});
}

int api_score_ends(carbon_run* handle, const char* settings, carbon_score_item* items, const size_t* from,
                   size_t count) {
  PluginRun& run = PluginRun::of(handle);
  return run.guarded(
      [&] {
        ScoreLevel level = ScoreLevel::base;
        read_settings(settings, {Setting("level", "LEVEL", "", level, kScoreLevelWords)});
        const std::vector<std::string> bases = upper_case(items, count);
        std::vector<SequenceEnd> ends;
        for (size_t i = 0; i < count; ++i) ends.push_back({bases[i], from[i]});
        score_ends(run.engine(), level, ends,
                   [&](size_t i, const SequenceScores& scores) { hand_over(scores, items[i]); });
        return int{CARBON_DONE};
      },
      int{CARBON_ERROR});
}

carbon_recipes* api_recipes_open(carbon_run* handle, const char* settings) {
  PluginRun& run = PluginRun::of(handle);
  return run.guarded([&] { return &run.recipes.emplace_back(settings, run.engine().config()); },
                     static_cast<carbon_recipes*>(nullptr));
}

const char* api_recipes_tag(carbon_run*, const carbon_recipes* recipes, size_t index,
                            const char** description) {
  if (index >= recipes->tags.size()) return nullptr;
  const InfoTag& tag = recipes->tags[index];
  if (description) *description = tag.description.c_str();
  return tag.id.c_str();
}

const char* api_recipes_text(carbon_run*, const carbon_recipes* recipes, size_t index) {
  return index < recipes->settings.size() ? recipes->settings[index].c_str() : nullptr;
}

namespace {

void hand_over(const VariantScores& scores, carbon_variant& variant) {
  double* values = variant.values;
  for (const std::vector<double>& tag : scores.values) values = std::copy(tag.begin(), tag.end(), values);
  for (size_t a = 0; variant.flags && a < scores.flags.size(); ++a)
    variant.flags[a] = scores.flags[a] == AlleleFlag::scored ? nullptr : flag_name(scores.flags[a]);
}

}  // namespace

int api_score_variants(carbon_run* handle, const carbon_recipes* recipes, carbon_indexed_fasta* fasta,
                       carbon_variant* variants, size_t count) {
  PluginRun& run = PluginRun::of(handle);
  return run.guarded(
      [&] {
        std::vector<PlacedVariant> placed;
        for (size_t i = 0; i < count; ++i) {
          const carbon_variant& v = variants[i];
          placed.push_back({v.contig, {v.pos, v.ref, {v.alts, v.alts + v.alt_count}}});
        }
        score_variants(run.engine(), fasta->fasta, recipes->planner, placed,
                       [&](size_t i, const VariantScores& scores) { hand_over(scores, variants[i]); });
        return int{CARBON_DONE};
      },
      int{CARBON_ERROR});
}

int api_generate(carbon_run* handle, const char* settings, size_t new_bases, carbon_generate_item* items,
                 size_t count) {
  PluginRun& run = PluginRun::of(handle);
  return run.guarded(
      [&] {
        std::vector<std::string> bases;
        for (size_t i = 0; i < count; ++i) bases.push_back(as_dna({items[i].prompt, items[i].length}));
        std::vector<NumberedPrompt> prompts;
        for (size_t i = 0; i < count; ++i) prompts.push_back({items[i].record, bases[i]});
        generate_bases(run.engine(), generate_options(settings, new_bases), prompts,
                       [&](size_t i, const Continuation& continuation) {
                         const std::string& drawn = continuation.bases;
                         std::memcpy(items[i].bases, drawn.c_str(), drawn.size() + 1);
                         items[i].logp = continuation.logp;
                       });
        return int{CARBON_DONE};
      },
      int{CARBON_ERROR});
}

}  // namespace carbon
