#include "src/generate/run.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

#include "src/base/error.hpp"
#include "src/base/numbers.hpp"
#include "src/base/words.hpp"
#include "src/engine/loaded_model.hpp"
#include "src/engine/output_run.hpp"
#include "src/files/file_name.hpp"
#include "src/files/sequence_output.hpp"
#include "src/generate/prompt.hpp"
#include "src/generate/requests.hpp"

namespace carbon {
namespace {

// Beyond any context, and far from where sums of lengths overflow.
constexpr int64_t kMostBases = int64_t{1} << 40;

}  // namespace

SettingList length_settings(GenerateOptions& options) {
  return {Setting("length", "BP", "number of new bases in each sample", &options.length)
              .letter_is('l')
              .range(1, kMostBases)
              .required()
              .not_at(Door::plugin, "an argument of the function"),
          Setting("num", "INT", "samples per prompt", &options.samples)
              .letter_is('n')
              .also("n")
              .range(1, UINT32_MAX)
              .shows_default()
              .not_at(Door::plugin, "an item is one sample")};
}

SettingList constraint_settings(GenerateOptions& options) {
  return {Setting("constraint", "IUPAC", "allowed bases as IUPAC letters, from the first new base on",
                  &options.constraint)};
}

SettingList generate_settings(GenerateOptions& options) {
  SettingList settings = length_settings(options);
  for (SettingList& more : std::vector<SettingList>{
           sampler_settings(options.sampler), constraint_settings(options), bound_settings(options.bounds)})
    for (Setting& setting : more) settings.push_back(std::move(setting));
  return settings;
}

void check_generate_options(const GenerateOptions& options) {
  check_sampler(options.sampler);
  if (options.sampler.kind == SamplerKind::marginal && has_bounds(options.bounds))
    throw SettingError(
        "generate", "sampler",
        "sampler marginal draws six bases independently and cannot keep bounds; use kmer or chain");
}

namespace {

// How many samples an output has, with `per_prompt` samples for each prompt.
uint64_t samples_in(const SequencesDone& done, size_t per_prompt) {
  return done.parts == 0 ? done.count * per_prompt : (done.count - 1) * per_prompt + done.parts;
}

// x.json for x.fa.gz; "" for a stream, which has no place beside it.
std::string record_path(const std::string& output) {
  if (replaced_file(output).empty()) return "";
  std::string path = stem_of_name(output) + ".json";
  check_provenance_file("generate", path);
  return path;
}

// Writes samples as FASTA.
class GenerateWriter {
 public:
  /// Opens the output. A FASTA has no place for the lines of `provenance`, so a file gets them as JSON beside
  /// it; they are asked for only then. `threads` compress the output. Throws Error, as do the other
  /// functions.
  GenerateWriter(const GenerateOptions& options, const SequenceRunInfo& run, int threads,
                 const std::function<std::vector<std::string>()>& provenance)
      : options_(options),
        record_path_(record_path(options.output)),
        output_(options.output, run, *options.log, threads) {
    if (record_path_.empty()) return;
    record_.emplace(record_path_, TemporaryName::fixed);  // no other run has the lock of the output
    record_->write(provenance_json(provenance()));
  }

  /// The prompts whose samples the output has from an earlier run, of the last of them perhaps only some;
  /// none without one.
  const std::optional<SequencesDone>& continued() const { return output_.continued(); }
  /// Writes sample `sample` (0-based) of a prompt: its new bases and their log-probability.
  void write(const Prompt& prompt, uint32_t sample, std::string_view bases, double logp) {
    std::string text = ">" + prompt.name;
    const std::string number = std::to_string(sample + 1);
    if (options_.samples > 1) text += "/" + number;
    text += " sample=" + number + " seed=" + std::to_string(options_.sampler.seed) +
            " length=" + std::to_string(bases.size()) + " logp=" + general_text(logp, 10) + "\n";
    std::string sequence = options_.include_prompt ? prompt.sequence : "";
    sequence += bases;
    const size_t width = options_.line_length == 0 ? sequence.size() : options_.line_length;
    for (size_t at = 0; at < sequence.size(); at += width) text.append(sequence, at, width).append("\n");
    output_.write(text);
    SequencesDone done = prompt.done;
    if (sample + 1 < options_.samples) done.parts = sample + 1;
    output_.end_sequence(done, samples_in(done, options_.samples));
  }

  /// Passes the samples on to a pipe or a terminal, as TextOutput::flush_for_reader() does.
  void flush_for_reader() { output_.flush_for_reader(); }
  bool to_file() const { return output_.to_file(); }
  std::string saved_in() const { return output_.saved_in(); }
  void flush_finished() { output_.flush_finished(); }
  /// Completes the output and the JSON beside it. Without it, neither is left behind.
  void close() {
    if (!record_) return output_.close();
    record_->finish();
    output_.finish();
    // The sequences get their name last, so that complete ones always have the JSON beside them.
    record_->commit();
    output_.commit();
  }

 private:
  const GenerateOptions& options_;
  std::string record_path_;  // of the JSON; "": none
  SequenceOutput output_;
  std::optional<TextOutput> record_;
};

/// Counts new bases, and shows them as progress. Any thread may call it.
class GenerateProgress {
 public:
  /// `k` are the bases of a token, which is a k-mer.
  GenerateProgress(Log& log, ProgressMode mode, size_t k) : progress_(log, mode, "generate", "bp"), k_(k) {}
  /// Called when `kmers` more k-mers are drawn for a sample of the prompt `name`.
  void drawn(size_t kmers, const std::string& name) {
    const std::lock_guard lock(mutex_);
    if (finished_) return;
    kmers_ += kmers;
    progress_.update(bases_ + k_ * kmers_, name);
  }

  /// Called when a sample is written. It has `bases` new bases, and drawn() has counted `kmers` k-mers for
  /// it.
  void written(size_t kmers, size_t bases, const std::string& name) {
    const std::lock_guard lock(mutex_);
    kmers_ -= std::min<uint64_t>(kmers_, kmers);
    bases_ += bases;
    progress_.update(bases_ + k_ * kmers_, name);
  }

  /// Ends the counting. Samples that are still being drawn, in a run that is stopped, do not count any more.
  void finish() {
    const std::lock_guard lock(mutex_);
    finished_ = true;
    progress_.finish();
  }

 private:
  std::mutex mutex_;
  Progress progress_;
  size_t k_;
  uint64_t kmers_ = 0;  // drawn, of samples that are not written yet
  uint64_t bases_ = 0;  // written
  bool finished_ = false;
};

// The bases of a prompt and of its constraint, for comparing the input of two runs.
std::string text_of(const Prompt& prompt) {
  const std::vector<BaseSet>& sets = prompt.bases->sets;
  return prompt.sequence + "\n" + std::string(sets.begin(), sets.end());
}

void read_prompts(const PromptPlanner& planner, const GenerateOptions& options, size_t devices,
                  SequencesRead& read, const std::function<void(SampleItem)>& emit) {
  const auto plan = [&](Prompt prompt) {
    if (!read.next(prompt.name, text_of(prompt))) return;
    prompt.done = read.done();
    emit_samples(std::make_shared<const Prompt>(std::move(prompt)),
                 {static_cast<size_t>(read.parts_written()), options.samples}, options.sampler, devices,
                 emit);
  };
  if (options.unconditional) return plan(planner.plan_unconditional());
  FastaReader reader(options.input, *options.log);
  uint64_t record = 0;
  for (FastaRecord fasta; reader.next(fasta); ++record) plan(planner.plan(record, fasta));
  read.finish();
}

// What the new bases depend on besides the prompts, a file of constraints and the model. A draft changes no
// byte.
Settings settings_of(const GenerateOptions& options) {
  const SamplerOptions& sampler = options.sampler;
  Settings settings = {{"length", std::to_string(options.length)},
                       {"sampler", word_of(kSamplerWords, sampler.kind)}};
  if (sampler.greedy) {
    settings.emplace_back("greedy", "yes");
  } else {
    settings.emplace_back("temperature", shortest_text(sampler.temperature));
    settings.emplace_back("top-k", std::to_string(sampler.top_k));
    settings.emplace_back("top-p", shortest_text(sampler.top_p));
    settings.emplace_back("seed", std::to_string(sampler.seed));
  }
  settings.emplace_back("constraint", !options.constraint_file.empty() ? "file"
                                      : options.constraint.empty()     ? "none"
                                                                       : options.constraint);
  settings.emplace_back("bounds", bounds_text(options.bounds));
  return settings;
}

// Everything that the output depends on, except the prompts and their constraints, which are compared one by
// one.
RunIdentity run_identity(const LoadedModel& model, const GenerateOptions& options) {
  RunIdentity run = identity_of(model);
  for (const auto& [name, value] : settings_of(options)) run.emplace(name, value);
  run.erase("constraint");  // by its letters, with the prompts
  run.merge(RunIdentity{{"samples", std::to_string(options.samples)},
                        {"include-prompt", options.include_prompt ? "yes" : "no"},
                        {"line-length", std::to_string(options.line_length)}});
  return run;
}

std::vector<std::string> provenance(const LoadedModel& model, const GenerateOptions& options) {
  return provenance_lines("generate", options.record,
                          {model_line("generate", "sequences", model, header_text(settings_of(options)))});
}

void report_draft(const DraftCounts& counts, Log& log) {
  const auto per = [](double a, uint64_t b) { return b > 0 ? a / static_cast<double>(b) : 0.0; };
  log.message(
      "generate",
      "draft: " + std::to_string(counts.drafted) + " 6-mers drafted, " + std::to_string(counts.tested) +
          " tested, " + std::to_string(counts.accepted) + " accepted (" +
          fixed_text(100 * per(static_cast<double>(counts.accepted), counts.tested), 1) + " %); " +
          fixed_text(1e3 * per(counts.draft_seconds, counts.steps), 3) + " ms per draft step, " +
          fixed_text(1e3 * per(counts.target_seconds, counts.rounds), 3) + " ms per round of the target");
}

}  // namespace

void run_generate(LoadedModels& models, LoadedModels* drafts, const GenerateOptions& options) {
  const LoadedModel& model = models.front();
  if (drafts)
    check_draft(model.checkpoint(), drafts->front().checkpoint(), !model.checkpoint().metadata().empty());
  Engine engine(models.all(), drafts ? drafts->all() : std::vector<LoadedModel*>{},
                {options.draft_tokens, {}});
  const PromptPlanner planner(model.config(), drafts ? &drafts->front().config() : nullptr, options);
  const SequenceRunInfo run{
      {"generate", "sample"}, [&] { return run_identity(model, options); }, options.earlier};
  GenerateWriter writer(options, run, output_threads(engine), [&] { return provenance(model, options); });
  SequencesRead read(writer.continued());
  GenerateProgress progress(*options.log, options.progress, model.config().layout.bases());
  uint64_t samples = writer.continued() ? samples_in(*writer.continued(), options.samples) : 0;
  run_to_output<SampleItem>(
      engine,
      {"generate", [&] { return count_of(samples, "sample"); }, *options.log, options.stop,
       [&] { writer.flush_for_reader(); }},
      writer, progress,
      [&](const std::function<void(SampleItem)>& emit) {
        read_prompts(planner, options, engine.devices(), read, [&](SampleItem item) {
          item.requests.back()->progressed = [&progress, prompt = item.prompt](const Request&, size_t kmers) {
            progress.drawn(kmers, prompt->name);
          };
          emit(std::move(item));
        });
      },
      [&](const SampleItem& item) {
        const Request& request = *item.requests.back();
        if (request.outcome == Outcome::not_finite) throw not_finite(item);
        writer.write(*item.prompt, item.sample, new_bases(request), request.logp);
        ++samples;
        progress.written(request.kmers.size(), item.prompt->bases->length, item.prompt->name);
      });
  if (const std::optional<DraftCounts> counts = engine.draft_counts()) report_draft(*counts, *options.log);
}

}  // namespace carbon
