// The settings of carbon annotate, and its runs: contigs and their probabilities, of a model or of tracks,
// are called and written one after the other.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/annotate/genes.hpp"
#include "src/annotate/windows.hpp"
#include "src/base/log.hpp"
#include "src/base/long_run.hpp"
#include "src/base/progress.hpp"
#include "src/base/settings.hpp"
#include "src/base/words.hpp"
#include "src/engine/engine.hpp"
#include "src/formats/provenance.hpp"
#include "src/formats/sequence_inputs.hpp"

namespace carbon {

enum class GeneMode { model, runs };
inline constexpr Word<GeneMode> kGeneModeWords[] = {{"model", GeneMode::model}, {"runs", GeneMode::runs}};

enum class RunPreset { eukaryote, prokaryote };
inline constexpr Word<RunPreset> kRunPresetWords[] = {{"eukaryote", RunPreset::eukaryote},
                                                      {"prokaryote", RunPreset::prokaryote}};

inline constexpr Word<bool> kYesNoWords[] = {{"yes", true}, {"no", false}};

enum class AnnotateOutput { gff3, tsv, bedgraph, bigwig };
inline constexpr Word<AnnotateOutput> kAnnotateOutputWords[] = {{"gff3", AnnotateOutput::gff3},
                                                                {"tsv", AnnotateOutput::tsv},
                                                                {"bedgraph", AnnotateOutput::bedgraph},
                                                                {"bigwig", AnnotateOutput::bigwig}};

enum class AnnotateStrand { forward, reverse };
inline constexpr Word<AnnotateStrand> kAnnotateStrandWords[] = {{"+", AnnotateStrand::forward},
                                                                {"-", AnnotateStrand::reverse}};

struct AnnotateOptions {
  SequenceInputs inputs;
  std::string from_tracks;  // PREFIX of PREFIX.plus.bw and PREFIX.minus.bw, instead of a model
  std::string output = "-", proteins, coding;
  std::string tracks;                  // PREFIX of tracks that are written beside GFF3; "": none
  std::optional<AnnotateOutput> type;  // none: what the name of the output says, or gff3
  std::optional<AnnotateStrand> strand;
  std::optional<Shard> shard;
  EarlierRun earlier = EarlierRun::refuse;

  // Of a model, in bases; 0 and none: the default, which complete_annotate_windows() sets.
  int64_t window = 0;
  std::optional<int64_t> overlap;

  GeneMode mode = GeneMode::model;

  GeneRules rules;
  GeneFilter filter;

  // Of runs; what is not given is that of the preset.
  RunPreset preset = RunPreset::eukaryote;
  std::optional<int64_t> outward, inward, stop_run, min_run, min_gap;
  double stop_ratio = RunRules().stop_ratio;

  CommandRecord record;
  ProgressMode progress = ProgressMode::automatic;
  Log* log = nullptr;
  StopRequests* stop = nullptr;
};

AnnotateOutput annotate_output_type(const AnnotateOptions& options);

/// What probabilities of a model depend on besides the contig.
SettingList window_settings(AnnotateOptions& options);
/// Sets what was not given, for a model that takes `max_positions` tokens of `token` bases. Throws
/// SettingError for sizes that cannot be used.
void complete_annotate_windows(AnnotateOptions& options, size_t max_positions, size_t token);

/// What calls depend on: whether genes or runs are called, what holds for genes, and what for runs.
Setting mode_setting(AnnotateOptions& options);
SettingList gene_settings(AnnotateOptions& options);
SettingList settings_of_runs(AnnotateOptions& options);
/// Throws SettingError for values that exclude each other; `given` are the names of the settings that were
/// set.
void check_annotate_settings(const AnnotateOptions& options, const std::vector<std::string>& given);
RunRules run_rules(const AnnotateOptions& options);

/// The two files of the tracks: of the forward strand, and of the reverse one.
std::string plus_track(const std::string& prefix);
std::string minus_track(const std::string& prefix);

/// The request for the logits of a window of a contig.
RequestPtr window_request(std::string_view contig, const Interval& place, const TokenLayout& layout);

/// Those logits, once the request is done. Throws Error if they are not finite.
const std::vector<float>& window_logits(const Request& request, std::string_view contig,
                                        const Interval& place);

/// The genes or runs of a contig, as the options say.
std::vector<GeneCall> calls_of(const AnnotateOptions& options, std::string_view contig,
                               const Probabilities& probabilities);
/// One of them as lines of GFF3: append_gene() or append_run().
void append_call(const AnnotateOptions& options, const GeneCall& call, std::string_view contig, size_t number,
                 std::string& text);

/// With the engine of a model that annotates. Throws Error. Then no output is left.
void run_annotate(Engine& engine, AnnotateOptions options);
/// With the probabilities of tracks.
void run_annotate_tracks(const AnnotateOptions& options);

}  // namespace carbon
