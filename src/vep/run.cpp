#include "src/vep/run.hpp"

#include <optional>

#include "src/base/error.hpp"
#include "src/base/log.hpp"
#include "src/engine/ordered_writer.hpp"
#include "src/genome/output.hpp"
#include "src/vep/header.hpp"
#include "src/vep/output.hpp"
#include "src/vep/planner.hpp"
#include "src/vep/resume.hpp"

namespace carbon {
namespace {

std::string place_of(const VcfRecord& record) {
  return record.contig() + ":" + std::to_string(record.pos() + 1);
}

// The scores of a record, computed or from the journal, as the values of its tags. Computed ones go to the
// journal.
SiteScores site_scores(const PlannedRecord& planned, ScoreCache* cache, Journal* journal) {
  const VepSite& site = planned.site;
  SiteScores scores;
  if (planned.saved) {
    const auto middle = planned.saved->begin() + static_cast<ptrdiff_t>(site.centered.size());
    scores.centered.assign(planned.saved->begin(), middle);
    scores.next_token.assign(middle, planned.saved->end());
  } else {
    const SiteValues computed = site_values(site, place_of(planned.record), cache);
    scores.centered.assign(computed.centered.begin(), computed.centered.end());
    scores.next_token.assign(computed.next_token.begin(), computed.next_token.end());
    if (planned.digest) {
      std::vector<float> values = scores.centered;
      values.insert(values.end(), scores.next_token.begin(), scores.next_token.end());
      journal->append(*planned.digest, values);
    }
  }
  for (size_t i = 0; i < planned.record.alts().size(); ++i)
    scores.flags.emplace_back(flag_name(site.flag(i)));
  return scores;
}

// The digest covers the configuration, rope scaling included.
std::optional<ScoreCache> open_cache(const LoadedModel& model, const VepOptions& options) {
  if (options.cache.empty()) return std::nullopt;
  return std::optional<ScoreCache>(std::in_place, options.cache,
                                   model.model_sha256() + "\n" + model.dtype() + "\n" + model.device_kind());
}

// What the output depends on besides the files that are read, whose parts are compared by content. Not the
// header lines of the run, which are written anew.
RunIdentity run_identity(const LoadedModel& model, const VepOptions& options) {
  const auto given = [](const std::string& text) { return text.empty() ? "none" : text; };
  const auto number = [](bool used, int64_t value) { return used ? std::to_string(value) : "unused"; };
  const VcfReaderOptions& selection = options.selection;
  constexpr const char* overlaps[] = {"pos", "record", "variant"};
  constexpr const char* checks[] = {"w", "e", "x"};
  const VcfWriterOptions output = output_options(options);
  return {{"model", model.model_sha256()},
          {"dtype", model.dtype()},
          {"device", model.device_kind()},
          {"--recipe", recipe_text(options)},
          {"--window", number(options.wants(Recipe::centered), options.window)},
          {"--context", number(options.wants(Recipe::next_token), options.context)},
          {"--strand", strand_text(options.strand)},
          {"--check-ref", checks[static_cast<int>(options.check_ref)]},
          {"--tag-prefix", options.tag_prefix},
          {"--unify-chr-names", given(options.unify_chr_names)},
          {"--regions", given(selection.regions)},
          {"--regions-overlap", overlaps[static_cast<int>(selection.regions_overlap)]},
          {"--targets", given(selection.targets)},
          {"--targets-overlap", overlaps[static_cast<int>(selection.targets_overlap)]},
          {"--output-type", output_type(output) + (output.level < 0 ? "" : std::to_string(output.level))},
          {"--shard", options.shard
                          ? std::to_string(options.shard->index) + "/" + std::to_string(options.shard->count)
                          : "none"}};
}

// None for an output that is written directly, which cannot be continued.
std::unique_ptr<Journal> open_journal(const LoadedModel& model, const VepOptions& options) {
  const std::string target = replaced_file(options.output);
  if (target.empty()) return nullptr;
  auto journal = std::make_unique<Journal>(target + ".partial", run_identity(model, options), options.resume);
  if (journal->saved() > 0)
    log::warning("vep", "continuing: " + journal->path() + " has the scores of " +
                            std::to_string(journal->saved()) + " records");
  return journal;
}

// The last thing of a run that is stopped early; it ends the process. The reader's thread may be in the
// middle of anything, so nothing is destroyed.
void end_stopped(StopRequests& stop, uint64_t records, const std::exception_ptr& failure, SiteOutput& output,
                 ScoreCache* cache, const Journal* journal) {
  try {
    if (failure) std::rethrow_exception(failure);
    if (cache) cache->flush();
    if (!journal) output.flush();
  } catch (const Error& error) {
    log::error(error.function(), error.what());
  } catch (const std::exception& error) {
    log::error("vep", error.what());
  }
  log::warning("vep", "stopped by " + stop.asked_by() + " after " + std::to_string(records) + " records; " +
                          (journal ? "continue with --resume, from " + journal->path()
                                   : "the output is not complete"));
  stop.end();
}

void print_summary(const VepCounts& counts) {
  std::vector<std::pair<std::string, uint64_t>> named = {{"total", counts.total}, {"scored", counts.scored}};
  for (int flag = 1; flag < kAlleleFlags; ++flag)
    named.emplace_back(flag_name(static_cast<AlleleFlag>(flag)), counts.alleles[static_cast<size_t>(flag)]);
  log::summary("vep", named);
}

}  // namespace

void run_vep(Engine& engine, const VepOptions& options) {
  const LoadedModel& model = engine.model();
  check_vep_options(options, model.config().max_positions);
  std::optional<ScoreCache> cache = open_cache(model, options);
  ScoreCache* const shared_cache = cache ? &*cache : nullptr;
  VepPlanner planner(options, model.config().layout, shared_cache);
  RecordRange share;
  if (options.shard) {
    check_readable_twice(options.input);
    VcfReader counted(options.input, options.selection);
    share = share_of(*options.shard, count_records([&](VcfRecord& record) {
      if (!counted.next(record)) return false;
      planner.note_contig(record.contig());
      return true;
    }));
  }
  VcfReader vcf(options.input, options.selection);
  RecordSource next = [&](VcfRecord& record) { return vcf.next(record); };
  if (options.shard) next = records_in(std::move(next), share);

  VcfWriterOptions writing = writer_options(model, options, vcf, planner.fasta());
  const std::unique_ptr<Journal> journal = open_journal(model, options);
  writing.exclusive = journal && journal->locked();
  const auto output = make_site_output(vcf, writing, TagNames(options.tag_prefix));
  Progress progress(options.progress, "vep", "records");
  if (options.shard) progress.set_total(share.end - share.begin);
  uint64_t done = 0;
  OrderedRun ordered;
  ordered.stop = options.stop;
  ordered.stopped = [&](const std::exception_ptr& failure) {
    progress.finish();
    end_stopped(*options.stop, done, failure, *output, shared_cache, journal.get());
  };
  run_ordered<PlannedRecord>(
      engine, [&](const std::function<void(PlannedRecord)>& emit) { planner.run(next, journal.get(), emit); },
      [&](PlannedRecord& planned) {
        output->write(planned.record, site_scores(planned, shared_cache, journal.get()));
        if (++done; planned.saved) progress.begin_at(done);
        progress.update(done, place_of(planned.record));
      },
      ordered);
  progress.finish();
  report_passes(engine);
  if (cache) {
    cache->flush();
    log::info("vep", "cache: " + std::to_string(cache->found()) + " of " +
                         std::to_string(cache->looked_up()) + " allele scores found");
  }
  output->close();
  if (journal) journal->remove();
  print_summary(planner.counts());
}

}  // namespace carbon
