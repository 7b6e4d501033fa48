#include "src/vep/run.hpp"

#include <cmath>
#include <limits>
#include <optional>

#include "src/base/error.hpp"
#include "src/base/log.hpp"
#include "src/engine/pipeline.hpp"
#include "src/genome/output.hpp"
#include "src/genome/provenance.hpp"
#include "src/vep/output.hpp"
#include "src/vep/planner.hpp"
#include "src/vep/resume.hpp"

namespace carbon {
namespace {

constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();

std::vector<InfoTag> tag_definitions(const VepOptions& options, const TagNames& tags) {
  std::vector<InfoTag> out;
  if (options.wants(Recipe::centered))
    out.push_back(
        {tags.llr, "A", "Float",
         "Carbon log-likelihood ratio of the " + std::to_string(options.window) +
             " bp window, alternative minus reference, in nats; negative = the alternative is less likely"});
  if (options.wants(Recipe::next_token))
    out.push_back({tags.nt, "A", "Float",
                   "Carbon ln(P(ALT)/P(REF)) of the base after the " + std::to_string(options.context) +
                       " bp context; negative = the alternative is less likely"});
  out.push_back({tags.flag, "A", "String",
                 "Why a Carbon score is missing: no_contig, edge, symbolic, star, non_acgt, ref_mismatch, "
                 "too_long, multibase"});
  return out;
}

std::string strand_text(VepStrand strand) {
  switch (strand) {
    case VepStrand::forward:
      return "+";
    case VepStrand::reverse:
      return "-";
    case VepStrand::both:
      return "both";
    case VepStrand::recipe_default:
      break;
  }
  return "default";
}

std::string recipe_text(const VepOptions& options) {
  std::string text;
  for (const Recipe recipe : options.recipes)
    text += (text.empty() ? "" : "+") + std::string(recipe == Recipe::centered ? "centered" : "next-token");
  return text;
}

// Everything the scores depend on besides the input: bytes are the same for the same line.
std::string model_line(const Engine& engine, const VepOptions& options) {
  std::string strands;
  for (const Recipe recipe : options.recipes) {
    const bool centered = recipe == Recipe::centered;
    const std::string strand = options.strand != VepStrand::recipe_default ? strand_text(options.strand)
                               : centered                                  ? "both"
                                                                           : "+";
    strands += (strands.empty() ? "" : "/") + strand;
  }
  std::string line = "##carbon_vepModel=<ID=" + options.tag_prefix + ",Model=\"" + engine.checkpoint().id() +
                     "\",SHA256=" + engine.model_sha256() + ",Dtype=" + engine.dtype() + ",Device=\"" +
                     engine.device_kind() + "\",Recipe=" + recipe_text(options);
  if (options.wants(Recipe::centered)) line += ",Window=" + std::to_string(options.window);
  if (options.wants(Recipe::next_token)) line += ",Context=" + std::to_string(options.context);
  line += ",Strand=" + strands;
  if (const std::string& scaling = engine.checkpoint().rope_override(); !scaling.empty())
    line += ",RopeScaling=" + scaling;
  return line + ">";
}

std::vector<std::string> header_lines(const Engine& engine, const VepOptions& options) {
  std::vector<std::string> lines;
  if (options.version_lines) lines = version_lines("vep", options.command_line);
  lines.push_back(model_line(engine, options));
  return lines;
}

VcfWriterOptions output_options(const VepOptions& options) {
  VcfWriterOptions out;
  out.path = options.output;
  if (!options.output_type.empty()) parse_output_type(options.output_type, out);
  if (!options.write_index.empty()) parse_write_index(options.write_index, out);
  return out;
}

// How the output header differs from the input's.
VcfWriterOptions writer_options(const Engine& engine, const VepOptions& options, const VcfReader& vcf,
                                const VepReader& reader) {
  VcfWriterOptions out = output_options(options);
  const TagNames tags(options.tag_prefix);
  out.tags = tag_definitions(options, tags);
  if (!options.wants(Recipe::centered)) out.drop_infos.push_back(tags.llr);
  if (!options.wants(Recipe::next_token)) out.drop_infos.push_back(tags.nt);
  out.drop_header_lines = {"##carbon_vepModel=<ID=" + options.tag_prefix + ","};
  out.header_lines = header_lines(engine, options);
  if (options.chr_map.empty() && options.unify_chr_names.empty())
    for (const std::string& name : reader.fasta().names())
      out.contigs.emplace_back(name, reader.fasta().length(name));
  const bool replaces = output_type(out) != 't';
  if (replaces && (vcf.has_info(tags.llr) || vcf.has_info(tags.nt) || vcf.has_info(tags.flag)))
    log::warning("vep",
                 "the input holds " + options.tag_prefix + " scores of an earlier run: they are replaced");
  return out;
}

float checked(double value, const VepSite& site) {
  const auto stored = static_cast<float>(value);
  if (!std::isfinite(stored))
    throw Error("vep", "non-finite score at " + site.record.contig() + ":" +
                           std::to_string(site.record.pos() + 1) +
                           "; the checkpoint's weights or activations are not finite");
  return stored;
}

// One value per ALT, of which there are `alts`: of those in `scored`, which the plans speak of, the mean over
// strands. What was not in the cache goes there.
template <class Plan>
std::vector<float> mean_scores(const VepSite& site, size_t alts, const std::vector<size_t>& scored,
                               const std::vector<Plan>& plans, ScoreCache* cache) {
  std::vector<float> values(alts, kMissing);
  for (size_t i = 0; i < scored.size(); ++i) {
    double sum = 0;
    for (const Plan& plan : plans) {
      const double llr = plan.llr(i, site.jobs);
      sum += llr;
      if (const ScoreKey* key = plan.missing(i)) {
        checked(llr, site);
        cache->insert(*key, llr);
      }
    }
    values[scored[i]] = checked(sum / static_cast<double>(plans.size()), site);
  }
  return values;
}

/// The engine's results for a site, or those that the journal had, as the values of its tags. New ones go to
/// the journal.
SiteScores site_scores(const VepSite& site, ScoreCache* cache, Journal* journal) {
  SiteScores scores;
  if (site.saved) {
    const auto middle = site.saved->begin() + static_cast<ptrdiff_t>(site.centered.size());
    scores.centered.assign(site.saved->begin(), middle);
    scores.next_token.assign(middle, site.saved->end());
  } else {
    scores.centered = mean_scores(site, site.centered.size(), site.centered_alts, site.centered_plans, cache);
    scores.next_token =
        mean_scores(site, site.next_token.size(), site.next_token_alts, site.next_token_plans, cache);
    if (site.digest) {
      std::vector<float> values = scores.centered;
      values.insert(values.end(), scores.next_token.begin(), scores.next_token.end());
      journal->append(*site.digest, values);
    }
  }
  for (size_t i = 0; i < site.record.alts().size(); ++i) scores.flags.emplace_back(flag_name(site.flag(i)));
  return scores;
}

// The digest covers the configuration, rope scaling included.
std::optional<ScoreCache> open_cache(const Engine& engine, const VepOptions& options) {
  if (options.cache.empty()) return std::nullopt;
  return std::optional<ScoreCache>(
      std::in_place, options.cache,
      engine.model_sha256() + "\n" + engine.dtype() + "\n" + engine.device_kind());
}

// What the output depends on besides the files that are read, whose parts are compared by content. Not the
// header lines of the run, which are written anew.
RunIdentity run_identity(const Engine& engine, const VepOptions& options) {
  const auto given = [](const std::string& text) { return text.empty() ? "none" : text; };
  const auto number = [](bool used, int64_t value) { return used ? std::to_string(value) : "unused"; };
  const VcfReaderOptions& selection = options.selection;
  constexpr const char* overlaps[] = {"pos", "record", "variant"};
  constexpr const char* checks[] = {"w", "e", "x"};
  const VcfWriterOptions output = output_options(options);
  return {{"model", engine.model_sha256()},
          {"dtype", engine.dtype()},
          {"device", engine.device_kind()},
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
std::unique_ptr<Journal> open_journal(const Engine& engine, const VepOptions& options) {
  const std::string target = replaced_file(options.output);
  if (target.empty()) return nullptr;
  auto journal =
      std::make_unique<Journal>(target + ".partial", run_identity(engine, options), options.resume);
  if (journal->saved() > 0)
    log::warning("vep", "continuing: " + journal->path() + " has the scores of " +
                            std::to_string(journal->saved()) + " records");
  return journal;
}

// The last thing of a run that a signal stops. The reader's thread may be in the middle of anything, so
// nothing is destroyed.
[[noreturn]] void end_stopped(int signal, uint64_t records, const std::exception_ptr& failure,
                              SiteOutput& output, ScoreCache* cache, const Journal* journal) {
  try {
    if (failure) std::rethrow_exception(failure);
    if (cache) cache->flush();
    if (!journal) output.flush();
  } catch (const Error& error) {
    log::error(error.function(), error.what());
  } catch (const std::exception& error) {
    log::error("vep", error.what());
  }
  log::warning(
      "vep",
      "stopped by " + signal_name(signal) + " after " + std::to_string(records) + " records; " +
          (journal ? "continue with --resume, from " + journal->path() : "the output is not complete"));
  end_by_signal(signal);
}

void print_summary(const VepCounts& counts) {
  std::vector<std::pair<std::string, uint64_t>> named = {{"total", counts.total}, {"scored", counts.scored}};
  for (int flag = 1; flag < kAlleleFlags; ++flag)
    named.emplace_back(flag_name(static_cast<AlleleFlag>(flag)), counts.alleles[static_cast<size_t>(flag)]);
  log::summary("vep", named);
}

}  // namespace

void check_vep_output(const VepOptions& options) {
  output_options(options);
  if (options.resume && replaced_file(options.output).empty())
    throw Error("vep", "--resume: " + (options.output == "-" ? "standard output" : options.output) +
                           " is written directly and cannot be continued; name a regular file with -o");
}

void check_vep_options(const VepOptions& options, size_t max_positions) {
  const auto largest = static_cast<int64_t>(kKmerLength * (max_positions - 1));
  const std::string context =
      " does not fit the model's context of " + std::to_string(max_positions) + " tokens";
  if (options.wants(Recipe::centered)) {
    if (options.window < 12 || options.window % 2 != 0)
      throw Error("vep",
                  "--window " + std::to_string(options.window) + ": expected an even number of at least 12");
    if (options.window > largest)
      throw Error("vep", "--window " + std::to_string(options.window) + context +
                             "; the largest that fits is " + std::to_string(largest));
  }
  if (options.wants(Recipe::next_token)) {
    if (options.context < 0)
      throw Error("vep", "--context " + std::to_string(options.context) + ": expected 0 or more");
    if (options.context > largest)
      throw Error("vep", "--context " + std::to_string(options.context) + context +
                             "; the largest that fits is " + std::to_string(largest));
  }
}

void run_vep(Engines& engines, const VepOptions& options) {
  const Engine& engine = engines.front();
  check_vep_options(options, engine.config().max_positions);
  std::optional<ScoreCache> cache = open_cache(engine, options);
  ScoreCache* const shared_cache = cache ? &*cache : nullptr;
  VepReader reader(options, engine.config().layout, shared_cache);
  RecordRange share;
  if (options.shard) {
    check_readable_twice(options.input);
    VcfReader counted(options.input, options.selection);
    share = share_of(*options.shard, count_records([&](VcfRecord& record) {
      if (!counted.next(record)) return false;
      reader.note_contig(record.contig());
      return true;
    }));
  }
  VcfReader vcf(options.input, options.selection);
  RecordSource next = [&](VcfRecord& record) { return vcf.next(record); };
  if (options.shard) next = records_in(std::move(next), share);

  VcfWriterOptions writing = writer_options(engine, options, vcf, reader);
  const std::unique_ptr<Journal> journal = open_journal(engine, options);
  writing.exclusive = journal && journal->locked();
  const auto output = make_site_output(vcf, writing, TagNames(options.tag_prefix));
  Progress progress(options.progress, "vep", "records");
  if (options.shard) progress.set_total(share.end - share.begin);
  uint64_t done = 0;
  run_pipeline<VepSite>(
      engines, [&](const std::function<void(VepSite)>& emit) { reader.run(next, journal.get(), emit); },
      [&](VepSite& site) {
        output->write(site.record, site_scores(site, shared_cache, journal.get()));
        if (++done; site.saved) progress.begin_at(done);
        progress.update(done, site.record.contig() + ":" + std::to_string(site.record.pos() + 1));
      },
      [&](int signal, const std::exception_ptr& failure) {
        progress.finish();
        end_stopped(signal, done, failure, *output, shared_cache, journal.get());
      });
  progress.finish();
  if (cache) {
    cache->flush();
    log::info("vep", "cache: " + std::to_string(cache->found()) + " of " +
                         std::to_string(cache->looked_up()) + " allele scores found");
  }
  output->close();
  if (journal) journal->remove();
  print_summary(reader.counts());
}

}  // namespace carbon
