#include "src/vep/run.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <span>

#include "src/base/error.hpp"
#include "src/base/long_run.hpp"
#include "src/base/progress.hpp"
#include "src/base/words.hpp"
#include "src/engine/ordered_writer.hpp"
#include "src/engine/output_run.hpp"
#include "src/engine/run_estimate.hpp"
#include "src/files/output.hpp"
#include "src/formats/provenance.hpp"
#include "src/vep/header.hpp"
#include "src/vep/output.hpp"
#include "src/vep/planner.hpp"
#include "src/vep/resume.hpp"
#include "src/vep/score_tables.hpp"
#include "src/vep/score_track.hpp"

namespace carbon {
namespace {

// Opens the cache that the options name, if any. The digest covers config.json and the rope scaling;
// metadata is none of the model.
std::optional<ScoreCache> open_cache(const LoadedModel& model, const VepOptions& options) {
  if (options.cache.empty()) return std::nullopt;
  if (!options.embeddings.empty()) {
    options.log->warning("vep", "the score cache is not used: embeddings need the windows of every allele");
    return std::nullopt;
  }
  std::string scored_by = model.model_sha256() + "\n" + model.dtype() + "\n" + model.device_kind();
  for (const uint32_t id : model.config().layout.prefix) scored_by += "\nmetadata " + std::to_string(id);
  return std::optional<ScoreCache>(std::in_place, options.cache, scored_by);
}

std::string output_text(const VepOptions& options) {
  if (vep_output(options) == VepOutput::track) return "bigwig";
  const VcfWriterOptions output = output_options(options);
  return output_type(output) + (output.level < 0 ? "" : std::to_string(output.level));
}

// Everything that the output depends on, except the input files, which are compared record by record, and the
// version lines of the header, which are those of the last run.
RunIdentity run_identity(const LoadedModel& model, const VepOptions& options, const RecipeList& recipes) {
  const auto given = [](const std::string& text) { return text.empty() ? "none" : text; };
  const VcfReaderOptions& selection = options.selection;
  constexpr const char* overlaps[] = {"pos", "record", "variant"};
  RunIdentity run = identity_of(model);
  for (const auto& recipe : recipes)
    for (const auto& [name, value] : settings_of(*recipe))
      if (name != "recipe") run.emplace(recipe->name() + (" " + name), value);
  run.emplace("recipe", joined(recipes, "+", [](const auto& recipe) { return recipe->name(); }));
  if (!options.embeddings.empty()) run.emplace("embeddings", "yes");
  if (options.pool != kWindowPool) run.emplace("pool", options.pool);
  run.merge(RunIdentity{{"check-ref", word_of(kCheckRefWords, options.check_ref)},
                        {"tag-prefix", options.tag_prefix},
                        {"unify-chr-names", given(options.unify_chr_names)},
                        {"regions", given(selection.regions)},
                        {"regions-overlap", overlaps[static_cast<int>(selection.regions_overlap)]},
                        {"targets", given(selection.targets)},
                        {"targets-overlap", overlaps[static_cast<int>(selection.targets_overlap)]},
                        {"header", word_of(kTableHeaderWords, options.header)},
                        {"output-type", output_text(options)},
                        {"shard", options.shard ? shard_text(*options.shard) : "none"}});
  return run;
}

// Opens the journal; null for an output that is written directly (a pipe, a device), which cannot be
// continued.
std::unique_ptr<Journal> open_journal(const LoadedModel& model, const VepOptions& options,
                                      const RecipeList& recipes) {
  const std::string target = replaced_file(options.output);
  if (target.empty()) return nullptr;
  auto journal = std::make_unique<Journal>(target + ".partial", run_identity(model, options, recipes),
                                           options.earlier, *options.log);
  if (journal->saved() > 0)
    options.log->warning("vep", "continuing: " + journal->path() + " has the scores of " +
                                    count_of(journal->saved(), "record"));
  return journal;
}

// The lines of a header with the bases of a pool in those of models; 0: windows, which are not named.
std::vector<std::string> with_pool(std::vector<std::string> lines, size_t bases) {
  for (std::string& line : lines)
    if (bases > 0 && line.starts_with("##carbon_vepModel=<"))
      line.insert(line.size() - 1, ",Pool=" + std::to_string(bases));
  return lines;
}

// Opens the file that counts the log-likelihood ratios of the recipes, those of tables not among them; null
// if none is wanted.
std::unique_ptr<HistogramFile> open_histogram(const VepOptions& options, const SitePlanner& sites,
                                              const ScoredTags& scored, TemporaryName name) {
  if (options.histogram.empty()) return nullptr;
  std::vector<std::string> lines;
  if (options.version_lines) lines = version_lines("vep", options.command_line);
  std::vector<VepHistogram::Tag> tags;
  size_t index = 0;
  for (const auto& recipe : sites.recipes())
    for (size_t tag = 0; tag < recipe->tag_count(); ++tag, ++index) {
      if (!recipe->has_log_ratios(tag)) continue;
      tags.push_back({scored.tags[index].id, index});
      lines.push_back(scored.lines[index]);
    }
  return std::make_unique<HistogramFile>(options.histogram, name, lines, std::move(tags));
}

std::unique_ptr<SiteOutput> open_output(const VepOptions& options, const VcfReader& vcf,
                                        const VcfWriterOptions& writing, const ContigLength& lengths) {
  if (vep_output(options) != VepOutput::track) return make_site_output(vcf, writing, options.header);
  std::vector<std::string> contigs = vcf.contigs();
  if (contigs.empty())
    for (const auto& [name, length] : writing.contigs) contigs.push_back(name);
  return make_track_output(writing.path, std::move(contigs), lengths);
}

// What a run writes: the records with their scores, and beside them what the options ask for.
class RunOutputs {
 public:
  // `pool_bases` are those of the pool of embeddings, for the header; 0: windows. `tables` have scores of the
  // same weights beside the computed ones; null: there are none. `lengths` are for a track.
  RunOutputs(const LoadedModel& model, const VepOptions& options, const SitePlanner& sites,
             const VcfReader& vcf, VcfWriterOptions writing, const ScoredTags& scored, size_t pool_bases,
             ScoreTables* tables, const ContigLength& lengths)
      : sites_(sites), tables_(tables), journal_(open_journal(model, options, sites.recipes())) {
    if (journal_ && journal_->locked()) writing.temporary = TemporaryName::fixed;
    histogram_ = open_histogram(options, sites, scored, writing.temporary);
    if (!options.embeddings.empty())
      embeddings_.emplace(options.embeddings, model.config().hidden,
                          with_pool(writing.header_lines, pool_bases));
    output_ = open_output(options, vcf, writing, lengths);
  }

  /// Null for an output that is written directly.
  Journal* journal() const { return journal_.get(); }
  /// The file from which a later run continues; "" if there is nothing to continue.
  std::string saved_in() const { return journal_ && journal_->has_entries() ? journal_->path() : ""; }
  bool ranks() const { return histogram_ != nullptr; }
  const AlleleCounts& counts() const { return counts_; }

  void write(PlannedRecord& planned) {
    const SiteScores scores = scores_of(planned);
    if (histogram_) histogram_->counts().add(planned.rank_types, scores);
    output_->write(planned.record, scores);
  }
  /// For whoever reads the output while the run waits for more input.
  void flush_for_reader() { output_->file().flush_for_reader(); }
  /// Before an early end. A file that a later run writes anew needs nothing.
  void flush() {
    if (!journal_) output_->file().flush();
  }
  /// Writes the rest, and gives the files their names.
  void finish() {
    if (histogram_) histogram_->finish();
    if (embeddings_) embeddings_->finish();
    output_->file().close();
    if (histogram_) histogram_->commit();
    if (embeddings_) embeddings_->commit();
  }
  void remove_journal() {
    if (journal_) journal_->remove();
  }

 private:
  // The values of a record as a journal keeps them, computed or from the journal: for each tag one per ALT,
  // then the rows of embeddings, if they are wanted. Computed ones are added to the journal.
  std::vector<float> values_of(const PlannedRecord& planned) {
    if (planned.saved) return *planned.saved;
    std::vector<float> all;
    const std::string place = place_of(planned.record);
    for (const std::vector<double>& values : sites_.values(planned.site, place))
      all.insert(all.end(), values.begin(), values.end());
    if (embeddings_) {
      const std::vector<float> rows = joined_rows(sites_.means(planned.site, place), embeddings_->hidden());
      all.insert(all.end(), rows.begin(), rows.end());
    }
    if (planned.digest) journal_->append(*planned.digest, all);
    return all;
  }

  // The scores of a record as the values of its tags, with its flags; also writes the embeddings of its
  // alleles and counts the flags.
  SiteScores scores_of(const PlannedRecord& planned) {
    const size_t alts = planned.record.alts().size(), tags = sites_.tag_count();
    SiteScores scores;
    const std::vector<float> all = values_of(planned);
    for (size_t tag = 0; tag < tags; ++tag) {
      const auto first = all.begin() + static_cast<ptrdiff_t>(tag * alts);
      scores.values.emplace_back(first, first + static_cast<ptrdiff_t>(alts));
    }
    if (embeddings_) write_embeddings(planned, scores, std::span(all).subspan(tags * alts));
    std::vector<AlleleFlag> flags;
    for (size_t i = 0; i < alts; ++i) flags.push_back(value_flag(planned.site, i, scores.values));
    // Where REF is not that of the FASTA, that of a table is no reason to end the run.
    const bool other_ref = std::find(flags.begin(), flags.end(), AlleleFlag::ref_mismatch) != flags.end();
    if (tables_)
      add_table_scores(
          other_ref ? TableScores{std::vector<float>(alts, NAN), flags} : tables_->look_up(planned.record),
          scores, flags);
    count_alleles(flags, counts_);
    scores.flags = flag_texts(flags, planned.earlier_flags);
    return scores;
  }

  // Writes the rows of the ALTs that have a log-likelihood ratio, or would have one if it were asked for.
  void write_embeddings(const PlannedRecord& planned, const SiteScores& scores, std::span<const float> rows) {
    const std::vector<ScoredAllele>& alleles = planned.site.recipes.front().alleles;
    const size_t each = alleles.empty() ? 0 : rows.size() / alleles.size();
    for (size_t i = 0; i < alleles.size(); ++i) {
      const auto scored = [&](const std::vector<float>& values) {
        return !std::isnan(values[alleles[i].alt]);
      };
      if (planned.site.first_measure == 0 || std::any_of(scores.values.begin(), scores.values.end(), scored))
        embeddings_->write(planned.record, alleles[i].alt, rows.subspan(i * each, each));
    }
  }

  const SitePlanner& sites_;
  ScoreTables* const tables_;
  const std::unique_ptr<Journal> journal_;
  std::unique_ptr<HistogramFile> histogram_;
  std::optional<VariantEmbeddings> embeddings_;
  std::unique_ptr<SiteOutput> output_;
  AlleleCounts counts_{};
};

// The records that the run annotates: all of them, or those of its shard. To find these, the records of the
// whole input are counted first, and `note` is told their contigs.
IndexRange records_of_run(const VepOptions& options, const std::function<void(const std::string&)>& note) {
  if (options.shard || options.estimate.limit > 0) check_share_input(options.input);
  if (!options.shard) return {};
  VcfReader vcf(options.input, options.selection, *options.log);
  const uint64_t records = count_records([&](VcfRecord& record) {
    if (!vcf.next(record)) return false;
    note(record.contig());
    return true;
  });
  return share_of(*options.shard, records);
}

// Says what the run would take, after planning all records and running some of their windows.
void estimate_vep(Engine& engine, const VepOptions& options, VepPlanner& planner, const RecordInput& input) {
  RunEstimate estimate;
  uint64_t records = 0;
  planner.run(input, nullptr, [&](const PlannedRecord& planned) {
    ++records;
    estimate.add(planned.requests);
  });
  const RunTime time = estimate.measure(engine, estimate.tokens());
  write_standard_output(
      count_of(records, "record") + ", of which " + std::to_string(planner.counts().scored) +
      " get scores, from " + count_of(estimate.windows(), "window") + " with at most " +
      count_of(estimate.tokens(), "token") + "\n" + time.text + "\n" + shares_text(options.estimate, time));
}

// Scores and writes the records of the input.
void annotate(Engine& engine, const VepOptions& options, VepPlanner& planner, const RecordInput& input,
              Progress& progress, const KeptWork& kept, RunOutputs& outputs,
              std::optional<ScoreCache>& cache) {
  uint64_t done = 0;
  OrderedRun ordered;
  ordered.stop = options.stop;
  ordered.stopping = [&] { say_stopping(*options.stop, "vep", *options.log); };
  ordered.idle = [&] { outputs.flush_for_reader(); };
  ordered.stopped = [&](const std::exception_ptr& failure) {
    progress.finish();
    const auto flush = [&] {
      if (cache) cache->flush();
      outputs.flush();
    };
    end_early(*options.stop, {"vep", count_of(done, "record"), kept.saved_in, failure, flush}, *options.log);
  };
  if (outputs.journal()) ordered.finishing = [&] { say_finishing(kept); };
  run_ordered<PlannedRecord>(
      engine,
      [&](const std::function<void(PlannedRecord)>& emit) {
        planner.run(input, outputs.journal(), [&](PlannedRecord planned) {
          if (outputs.ranks())
            planned.rank_types = rank_types(
                planned.record, [&](const std::string& tag) { return input.info(planned.record, tag); });
          emit(std::move(planned));
        });
      },
      [&](PlannedRecord& planned) {
        outputs.write(planned);
        if (++done; planned.saved) progress.begin_at(done);
        progress.update(done, place_of(planned.record));
      },
      ordered);
  progress.finish();
}

// Writes the last scores to the cache, and says how many of them it had.
void close_cache(ScoreCache& cache, Log& log) {
  cache.flush();
  log.info("vep", "cache: " + std::to_string(cache.found()) + " of " + std::to_string(cache.looked_up()) +
                      " allele scores found");
}

}  // namespace

void check_same_model(const LoadedModel& model, const ScoreTables& tables) {
  if (tables.field("SHA256") == model.model_sha256()) return;
  throw Error("vep", "the tables are of another model than the one that is loaded: their SHA256 is " +
                         tables.field("SHA256") + ", that of " + model.checkpoint().id() + " is " +
                         model.model_sha256());
}

void check_same_values(const LoadedModel& model, const ScoreTables& tables) {
  check_same_model(model, tables);
  const HeaderFields ours = header_fields(model_line("scan", "", model, ""));
  constexpr std::pair<const char*, const char*> kOptions[] = {
      {"Dtype", "--dtype"}, {"RopeScaling", "--rope-scaling"}, {"Metadata", "--species or --prefix"}};
  for (const auto& [field, option] : kOptions) {
    const auto shown = [](const std::string& value) { return value.empty() ? "none" : value; };
    const std::string theirs = tables.field(field), mine = header_field(ours, field);
    if (theirs != mine)
      throw Error("vep", std::string("the tables were computed with ") + field + " " + shown(theirs) +
                             ", and --fill would compute with " + shown(mine) + ": give " + option +
                             " as in the run of carbon scan");
  }
}

void run_vep(Engine& engine, const VepOptions& options, ScoreTables* tables) {
  const LoadedModel& model = engine.model();
  RecipeList recipes = make_recipes(options.scores, model.checkpoint(), *options.log);
  for (const auto& recipe : recipes)
    if (const std::string warning = recipe->warning(); !warning.empty())
      options.log->warning("vep", warning, {"{--pad-tail} reads them, with A for the bases that lack"});
  // An estimate leaves no cache behind, and so does not know what is in one.
  std::optional<ScoreCache> cache = options.estimate.wanted ? std::nullopt : open_cache(model, options);
  const bool embeds = !options.embeddings.empty();
  const TokenLayout& layout = model.config().layout;
  const size_t pool = pooled_tokens(options.pool, layout.bases());
  const SitePlanner sites(std::move(recipes), layout, cache ? &*cache : nullptr, embeds, pool);
  VepPlanner planner(options, sites, embeds ? 2 * model.config().hidden : 0);
  const IndexRange range = records_of_run(options, [&](const std::string& contig) {
    planner.note_contig(contig);
    if (tables) tables->note_contig(contig);
  });
  VcfReader vcf(options.input, options.selection, *options.log);
  if (tables) tables->declare_contigs(vcf.contigs());
  RecordInput input{[&](VcfRecord& record) { return vcf.next(record); },
                    [&](const VcfRecord& record, const std::string& tag) { return vcf.info(record, tag); },
                    vcf.contigs(), vcf.contig_lengths()};
  if (options.shard) input.next = records_in(std::move(input.next), range);

  if (options.estimate.wanted) return estimate_vep(engine, options, planner, input);
  NeighbourCount neighbours(vcf);
  input.next = [&neighbours, next = std::move(input.next)](VcfRecord& record) {
    if (!next(record)) return false;
    neighbours.add(record);
    return true;
  };
  const ScoredTags scored = scored_tags(model, options.tag_prefix, sites.recipes(), tables);
  if (vep_output(options) == VepOutput::track) check_track_tags(scored.tags, sites.recipes());
  const EarlierScores earlier = earlier_scores(scored, options.tag_prefix, vcf);
  input.kept = kept_scores(earlier, options.tag_prefix);
  VcfWriterOptions writing = writer_options(options, scored, earlier);
  writing.compression_threads = output_threads(engine);
  if (options.chr_map.empty() && options.unify_chr_names.empty())
    for (const std::string& name : planner.fasta().names())
      writing.contigs.emplace_back(name, planner.fasta().length(name));
  if (vep_output(options) == VepOutput::records) say_earlier(earlier, options.tag_prefix, *options.log);
  // Of records that are scored, the FASTA has the contigs.
  const auto length = [&](const std::string& contig) {
    const std::string name = planner.names().to_fasta(contig, planner.fasta());
    return name.empty() ? -1 : planner.fasta().length(name);
  };
  RunOutputs outputs(model, options, sites, vcf, std::move(writing), scored, pool * layout.bases(), tables,
                     length);
  Progress progress(*options.log, options.progress, "vep", "records");
  if (options.shard) {
    progress.set_total(range.end - range.begin);
  } else if (progress.enabled()) {
    progress.set_total(vcf.indexed_records().value_or(0));
  }
  const KeptWork kept{"vep", [&] { return outputs.saved_in(); }, *options.log};
  run_keeping(kept, [&] {
    annotate(engine, options, planner, input, progress, kept, outputs, cache);
    if (tables) tables->check_contigs(*options.log);
    report_passes(engine);
    if (cache) close_cache(*cache, *options.log);
    outputs.finish();
  });
  outputs.remove_journal();
  VepCounts counts = planner.counts();
  counts.alleles = outputs.counts();
  counts.neighbours = neighbours.count();
  for (const auto& recipe : sites.recipes()) counts.measures |= recipe->first_measure() < recipe->tag_count();
  print_summary(counts, *options.log);
}

void run_vep_tables(const VepOptions& options, ScoreTables& tables) {
  const IndexRange range =
      records_of_run(options, [&](const std::string& contig) { tables.note_contig(contig); });
  VcfReader vcf(options.input, options.selection, *options.log);
  tables.declare_contigs(vcf.contigs());
  RecordSource next = [&vcf](VcfRecord& record) { return vcf.next(record); };
  if (options.shard) next = records_in(std::move(next), range);
  const ScoredTags scored = scored_tags(options.tag_prefix, tables);
  const EarlierScores earlier = earlier_scores(scored, options.tag_prefix, vcf);
  const VcfWriterOptions writing = writer_options(options, scored, earlier);
  if (vep_output(options) == VepOutput::records) say_earlier(earlier, options.tag_prefix, *options.log);
  const auto output =
      open_output(options, vcf, writing, [lengths = vcf.contig_lengths()](const std::string& contig) {
        const auto known = lengths.find(contig);
        return known == lengths.end() ? -1 : known->second;
      });
  const KeptScores kept = kept_scores(earlier, options.tag_prefix);

  Progress progress(*options.log, options.progress, "vep", "records");
  VepCounts counts;
  NeighbourCount neighbours(vcf);
  for (VcfRecord record; next(record);) {
    neighbours.add(record);
    SiteScores scores;
    std::vector<AlleleFlag> flags(record.alts().size(), AlleleFlag::scored);
    add_table_scores(tables.look_up(record), scores, flags);
    count_alleles(flags, counts.alleles);
    scores.flags =
        flag_texts(flags, kept_reasons(kept, [&](const std::string& tag) { return vcf.info(record, tag); }));
    ++counts.total;
    if (std::find(flags.begin(), flags.end(), AlleleFlag::scored) != flags.end()) ++counts.scored;
    output->write(record, scores);
    progress.update(counts.total, place_of(record));
  }
  tables.check_contigs(*options.log);
  output->file().close();
  progress.finish();
  counts.neighbours = neighbours.count();
  print_summary(counts, *options.log);
}

uint64_t write_missing(const VepOptions& options, ScoreTables& tables, const std::string& bed,
                       bool other_ref_ends) {
  const IndexedFasta fasta(options.fasta, *options.log);
  ReferenceReader reference(fasta);
  const ContigNames names(options.unify_chr_names, options.chr_map);
  VcfContigs contigs;
  const auto name_of = [&](const std::string& contig) -> const std::string& {
    return contigs.name(contig, [&](const std::string& one) { return names.to_fasta(one, fasta); });
  };
  const IndexRange range = records_of_run(options, [&](const std::string& contig) { name_of(contig); });
  VcfReader vcf(options.input, options.selection, *options.log);
  RecordSource next = [&vcf](VcfRecord& record) { return vcf.next(record); };
  if (options.shard) next = records_in(std::move(next), range);
  TextOutput output(bed);
  uint64_t written = 0;
  std::set<std::string> left_out;  // contigs that the FASTA lacks, with SNVs to compute
  for (VcfRecord record; next(record);) {
    const std::string& name = name_of(record.contig());
    const int64_t length = name.empty() ? -1 : fasta.length(name);
    tables.find_missing(record, [&](const std::string& contig, int64_t pos, char ref) {
      if (name.empty()) left_out.insert(contig);
      if (pos >= length) return;
      const char base = reference.base(name, length, pos);
      if (base_digit(base) < 0) return;  // a scan has no values there
      if (base != ref && !other_ref_ends) return;
      if (base != ref)
        throw Error("vep", "REF " + std::string(1, ref) + " at " + contig + ":" + std::to_string(pos + 1) +
                               " differs from the FASTA (" + base +
                               "): another assembly? give the FASTA that the tables were made of");
      output.write(name + "\t" + std::to_string(pos) + "\t" + std::to_string(pos + 1) + "\n");
      ++written;
    });
  }
  output.close();
  if (left_out.empty()) return written;
  if (contigs.none_known())
    throw names.none_matches("vep", "the VCF", contigs.unknown(), fasta.path(), fasta.names());
  const std::vector<std::string> unknown(left_out.begin(), left_out.end());
  const Respelled other = respelled(unknown, fasta.names(), "the FASTA");
  options.log->warning("vep",
                       "contigs (" + first_of_list(unknown) + ") are not in " + fasta.path() +
                           ": their SNVs that the tables lack are not computed" + other.words,
                       other.advice);
  return written;
}

}  // namespace carbon
