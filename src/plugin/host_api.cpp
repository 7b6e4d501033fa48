// The functions of carbon_api. Each passes the call on to the run or to a library function, and turns
// exceptions into error codes.

#include <cstring>
#include <limits>

#include "src/generate/continuations.hpp"
#include "src/genome/regions.hpp"
#include "src/plugin/host.hpp"
#include "src/score/sequence_scores.hpp"
#include "src/vep/variant_scores.hpp"
#include "version.h"

namespace carbon {
namespace {

int api_fail(carbon_run* handle, const char* reason) {
  PluginRun& run = PluginRun::of(handle);
  return run.guarded([&] { return run.fail(reason); }, int{CARBON_ERROR});
}

int api_unmet(carbon_run* handle, const char* text) {
  PluginRun& run = PluginRun::of(handle);
  return run.guarded(
      [&] {
        run.unmet.emplace_back(text);
        return int{CARBON_OK};
      },
      int{CARBON_ERROR});
}

void api_message(carbon_run* handle, int level, const char* text) {
  PluginRun& run = PluginRun::of(handle);
  run.guarded(
      [&] {
        const std::string& name = run.options().name;
        Log& log = *run.options().log;
        level <= CARBON_WARNING ? log.warning(name, text) : log.info(name, text);
        return 0;
      },
      0);
}

const char* api_property(carbon_run* handle, int which) {
  PluginRun& run = PluginRun::of(handle);
  return run.guarded(
      [&] {
        switch (which) {
          case CARBON_VERSION_TEXT:
            run.property = CARBON_VERSION;
            break;
          case CARBON_COMMAND_LINE:
            run.property = run.options().command_line;
            break;
          case CARBON_MODEL_ID:
            run.property = run.engine().model().checkpoint().id();
            break;
          case CARBON_MODEL_SHA256:
            run.property = run.engine().model().model_sha256();
            break;
          case CARBON_MODEL_DTYPE:
            run.property = run.engine().model().dtype();
            break;
          case CARBON_DEVICE_KIND:
            run.property = run.engine().model().device_kind();
            break;
          case CARBON_MODEL_POSITIONS:
            run.property = std::to_string(run.engine().config().max_positions);
            break;
          case CARBON_DEFAULT_CONTEXT:
            run.property = std::to_string(run.engine().config().layout.family->next_token_context);
            break;
          default:
            throw Error("plugin", "there is no property " + std::to_string(which));
        }
        return run.property.c_str();
      },
      static_cast<const char*>(nullptr));
}

void api_progress(carbon_run* handle, uint64_t done, const char* unit, const char* where) {
  PluginRun& run = PluginRun::of(handle);
  run.guarded(
      [&] {
        run.show_progress(done, unit, where);
        run.pass_on_outputs();
        return 0;
      },
      0);
}

const char* api_input(carbon_run* run, size_t index) {
  const std::vector<std::string>& inputs = PluginRun::of(run).options().inputs;
  return index < inputs.size() ? inputs[index].c_str() : nullptr;
}

carbon_output* api_output_open(carbon_run* handle, const char* path) {
  PluginRun& run = PluginRun::of(handle);
  return run.guarded([&] { return run.open_output(path); }, static_cast<carbon_output*>(nullptr));
}

int api_output_write(carbon_run* run, carbon_output* output, const char* bytes, size_t count) {
  return PluginRun::of(run).guarded(
      [&] {
        output->text ? output->text->write({bytes, count}) : output->vcf->write({bytes, count});
        return int{CARBON_OK};
      },
      int{CARBON_ERROR});
}

size_t api_format_float(float value, char* text) {
  text[0] = '\0';
  try {
    std::string digits;
    append_vcf_float(value, digits);
    std::memcpy(text, digits.c_str(), digits.size() + 1);
    return digits.size();
  } catch (...) {
    return 0;  // out of memory; this function has no run to report it to
  }
}

// ---- records

const char* api_record_contig(carbon_run*, const carbon_record* record) {
  return record->record.contig().c_str();
}

int64_t api_record_pos(carbon_run*, const carbon_record* record) {
  return record->record.pos();
}

const char* api_record_id(carbon_run* handle, const carbon_record* record) {
  PluginRun& run = PluginRun::of(handle);
  return run.guarded(
      [&] {
        run.property = record->record.id();
        return run.property.c_str();
      },
      static_cast<const char*>(nullptr));
}

size_t api_record_allele_count(carbon_run*, const carbon_record* record) {
  return record->record.alts().size() + 1;
}

const char* api_record_allele(carbon_run*, const carbon_record* record, size_t index) {
  if (index == 0) return record->record.ref().c_str();
  const std::vector<std::string>& alts = record->record.alts();
  return index <= alts.size() ? alts[index - 1].c_str() : nullptr;
}

int type_code(InfoType type) {
  switch (type) {
    case InfoType::none:
      return CARBON_TYPE_NONE;
    case InfoType::flag:
      return CARBON_TYPE_FLAG;
    case InfoType::integer:
      return CARBON_TYPE_INTEGER;
    case InfoType::real:
      return CARBON_TYPE_FLOAT;
    case InfoType::text:
      break;
  }
  return CARBON_TYPE_STRING;
}

int number_code(InfoNumber number) {
  switch (number) {
    case InfoNumber::alt:
      return CARBON_PER_ALT;
    case InfoNumber::allele:
      return CARBON_PER_ALLELE;
    case InfoNumber::genotype:
      return CARBON_PER_GENOTYPE;
    case InfoNumber::other:
      break;
  }
  return CARBON_PER_OTHER;
}

int api_record_info(carbon_run* handle, const carbon_record* record, const char* tag, carbon_values* values) {
  PluginRun& run = PluginRun::of(handle);
  return run.guarded(
      [&] {
        run.info = record->reader->info(record->record, tag);
        run.info_texts.clear();
        for (const std::string& text : run.info.texts)
          run.info_texts.push_back(text == "." ? nullptr : text.c_str());
        const bool is_text = run.info.type == InfoType::text;
        *values = {type_code(run.info.type), number_code(run.info.number),
                   is_text ? run.info_texts.size() : run.info.numbers.size(), run.info.numbers.data(),
                   run.info_texts.data()};
        return int{CARBON_OK};
      },
      int{CARBON_ERROR});
}

int api_info_type(carbon_run* handle, const char* tag) {
  PluginRun& run = PluginRun::of(handle);
  return run.guarded([&] { return type_code(run.reader().info_type(tag)); }, int{CARBON_ERROR});
}

int api_header_line(carbon_run* handle, const char* key, size_t index, const char** line) {
  PluginRun& run = PluginRun::of(handle);
  return run.guarded(
      [&] {
        const std::vector<std::string> lines = run.reader().header_lines(key);
        *line = nullptr;
        if (index < lines.size()) {
          run.header_line = lines[index];
          *line = run.header_line.c_str();
        }
        return int{CARBON_OK};
      },
      int{CARBON_ERROR});
}

const char* api_record_filter(carbon_run* handle, const carbon_record* record) {
  PluginRun& run = PluginRun::of(handle);
  return run.guarded(
      [&] {
        run.filter = record->reader->filter(record->record);
        return run.filter.c_str();
      },
      static_cast<const char*>(nullptr));
}

carbon_records* api_records_open(carbon_run* handle, const char* path) {
  PluginRun& run = PluginRun::of(handle);
  return run.guarded(
      [&] { return &run.records.emplace_back(path, run.options().selection, *run.options().log); },
      static_cast<carbon_records*>(nullptr));
}

int api_records_next(carbon_run* run, carbon_records* records, const carbon_record** record) {
  return PluginRun::of(run).guarded(
      [&] {
        if (!records->reader.next(records->current.record)) return 0;
        *record = &records->current;
        return 1;
      },
      int{CARBON_ERROR});
}

int api_records_info_type(carbon_run* run, carbon_records* records, const char* tag) {
  return PluginRun::of(run).guarded([&] { return type_code(records->reader.info_type(tag)); },
                                    int{CARBON_ERROR});
}

int api_info_declare(carbon_run* handle, const char* tag, const char* description) {
  PluginRun& run = PluginRun::of(handle);
  return run.guarded(
      [&] {
        run.declare_tag({tag, "A", "Float", description});
        return int{CARBON_OK};
      },
      int{CARBON_ERROR});
}

int api_info_set(carbon_run* handle, carbon_record* record, const char* tag, const double* values,
                 size_t count) {
  PluginRun& run = PluginRun::of(handle);
  return run.guarded(
      [&] {
        run.set_tag(*record, tag, std::vector<float>(values, values + count));
        return int{CARBON_OK};
      },
      int{CARBON_ERROR});
}

// ---- text and FASTA

carbon_text* api_text_open(carbon_run* handle, const char* path) {
  PluginRun& run = PluginRun::of(handle);
  return run.guarded([&] { return &run.texts.emplace_back(path); }, static_cast<carbon_text*>(nullptr));
}

int api_text_line(carbon_run* run, carbon_text* text, const char** line, size_t* length) {
  return PluginRun::of(run).guarded(
      [&] {
        if (!text->input.line(text->line)) return 0;
        *line = text->line.c_str();
        *length = text->line.size();
        return 1;
      },
      int{CARBON_ERROR});
}

const char* api_text_where(carbon_run* run, carbon_text* text) {
  return PluginRun::of(run).guarded(
      [&] {
        text->where = text->input.where();
        return text->where.c_str();
      },
      static_cast<const char*>(nullptr));
}

carbon_sequences* api_sequences_open(carbon_run* handle, const char* path) {
  PluginRun& run = PluginRun::of(handle);
  return run.guarded([&] { return &run.sequences.emplace_back(path, *run.options().log); },
                     static_cast<carbon_sequences*>(nullptr));
}

int api_sequences_next(carbon_run* run, carbon_sequences* sequences, const char** name, const char** bases,
                       size_t* length) {
  return PluginRun::of(run).guarded(
      [&] {
        if (!sequences->reader.next(sequences->record)) return 0;
        *name = sequences->record.name.c_str();
        *bases = sequences->record.sequence.c_str();
        *length = sequences->record.sequence.size();
        return 1;
      },
      int{CARBON_ERROR});
}

carbon_fasta* api_fasta_open(carbon_run* handle, const char* path) {
  PluginRun& run = PluginRun::of(handle);
  return run.guarded([&] { return &run.fastas.emplace_back(path, *run.options().log); },
                     static_cast<carbon_fasta*>(nullptr));
}

const char* api_fasta_contig(carbon_run*, carbon_fasta* fasta, size_t index) {
  const std::vector<std::string>& names = fasta->fasta.names();
  return index < names.size() ? names[index].c_str() : nullptr;
}

int64_t api_fasta_length(carbon_run* run, carbon_fasta* fasta, const char* contig) {
  return PluginRun::of(run).guarded([&] { return fasta->fasta.length(contig); }, int64_t{-1});
}

int api_fasta_fetch(carbon_run* run, carbon_fasta* fasta, const char* contig, int64_t begin, int64_t end,
                    char* bases) {
  return PluginRun::of(run).guarded(
      [&] {
        const int64_t length = fasta->fasta.length(contig);
        if (begin < 0 || begin > end || end > length)
          throw Error("plugin", fasta->fasta.path() + " has no bases " + contig + ":" +
                                    std::to_string(begin + 1) + "-" + std::to_string(end));
        const std::string fetched = fasta->fasta.fetch(contig, begin, end);
        std::memcpy(bases, fetched.data(), fetched.size());
        return int{CARBON_OK};
      },
      int{CARBON_ERROR});
}

int api_fasta_regions(carbon_run* run, carbon_fasta* fasta, const char* text, int is_file,
                      const carbon_region** regions, size_t* count) {
  return PluginRun::of(run).guarded(
      [&] {
        fasta->regions = is_file ? read_regions(text, fasta->fasta)
                                 : std::vector<Region>{parse_region(text, fasta->fasta)};
        fasta->region_views.clear();
        for (const Region& region : fasta->regions)
          fasta->region_views.push_back({region.contig.c_str(), region.begin, region.end});
        *regions = fasta->region_views.data();
        *count = fasta->region_views.size();
        return int{CARBON_OK};
      },
      int{CARBON_ERROR});
}

// ---- the engine

ScoreLevel score_level(int level) {
  if (level != CARBON_LEVEL_BP && level != CARBON_LEVEL_TOKEN)
    throw Error("plugin", "there is no level " + std::to_string(level));
  return level == CARBON_LEVEL_BP ? ScoreLevel::base : ScoreLevel::token;
}

std::vector<std::string> upper_case(const carbon_score_item* items, size_t count) {
  std::vector<std::string> bases;
  for (size_t i = 0; i < count; ++i) bases.push_back(to_upper({items[i].bases, items[i].length}));
  return bases;
}

void hand_over(const SequenceScores& scores, carbon_score_item& item) {
  item.sum = scores.sum;
  item.scored = scores.scored;
  if (item.values) std::copy(scores.values.begin(), scores.values.end(), item.values);
}

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

int api_score_variants(carbon_run* run, carbon_fasta* fasta, const carbon_recipe* recipe,
                       carbon_variant* variants, size_t count) {
  return score_with(run, fasta, recipe, variants, count);
}

int api_score_anchored(carbon_run* run, carbon_fasta* fasta, const carbon_anchored* recipe,
                       carbon_variant* variants, size_t count) {
  return score_with(run, fasta, recipe, variants, count);
}

SamplerOptions sampler_options(const carbon_sampler& sampler) {
  constexpr SamplerKind kinds[] = {SamplerKind::kmer, SamplerKind::marginal, SamplerKind::chain};
  if (sampler.kind < 0 || sampler.kind >= static_cast<int>(std::size(kinds)))
    throw Error("plugin", "there is no sampler " + std::to_string(sampler.kind));
  if (!(sampler.temperature > 0) || !(sampler.top_p > 0 && sampler.top_p <= 1))
    throw Error("plugin", "a sampler's temperature must be above 0, and its top_p above 0 and at most 1");
  return {kinds[sampler.kind], sampler.greedy != 0, sampler.temperature, static_cast<size_t>(sampler.top_k),
          sampler.top_p,       sampler.seed};
}

int api_generate(carbon_run* handle, const carbon_sampler* sampler, size_t new_bases,
                 carbon_generate_item* items, size_t count) {
  PluginRun& run = PluginRun::of(handle);
  return run.guarded(
      [&] {
        std::vector<NumberedPrompt> prompts;
        for (size_t i = 0; i < count; ++i)
          prompts.push_back({items[i].record, {items[i].prompt, items[i].length}});
        generate_bases(run.engine(), sampler_options(*sampler), new_bases, prompts,
                       [&](size_t i, const Continuation& continuation) {
                         const std::string& bases = continuation.bases;
                         std::memcpy(items[i].bases, bases.c_str(), bases.size() + 1);
                         items[i].logp = continuation.logp;
                       });
        return int{CARBON_OK};
      },
      int{CARBON_ERROR});
}

}  // namespace

const carbon_api& plugin_api() {
  static constexpr carbon_api api = {
      sizeof(carbon_api),
      api_fail,
      api_message,
      api_property,
      api_progress,
      api_input,
      api_output_open,
      api_output_write,
      api_format_float,
      api_record_contig,
      api_record_pos,
      api_record_id,
      api_record_allele_count,
      api_record_allele,
      api_record_info,
      api_info_type,
      api_info_declare,
      api_info_set,
      api_text_open,
      api_text_line,
      api_text_where,
      api_sequences_open,
      api_sequences_next,
      api_fasta_open,
      api_fasta_contig,
      api_fasta_length,
      api_fasta_fetch,
      api_fasta_regions,
      api_score,
      api_score_variants,
      api_generate,
      api_score_ends,
      api_header_line,
      api_records_open,
      api_records_next,
      api_records_info_type,
      api_record_filter,
      api_unmet,
      api_score_anchored,
  };
  return api;
}

}  // namespace carbon
