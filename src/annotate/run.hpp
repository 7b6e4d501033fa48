// The settings of carbon annotate, and the run: contigs and their probabilities are read, called and written
// one after the other.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/annotate/genes.hpp"
#include "src/base/log.hpp"
#include "src/base/progress.hpp"
#include "src/base/settings.hpp"
#include "src/base/words.hpp"
#include "src/formats/provenance.hpp"

namespace carbon {

enum class GeneMode { model, runs };
inline constexpr Word<GeneMode> kGeneModeWords[] = {{"model", GeneMode::model}, {"runs", GeneMode::runs}};

enum class RunPreset { eukaryote, prokaryote };
inline constexpr Word<RunPreset> kRunPresetWords[] = {{"eukaryote", RunPreset::eukaryote},
                                                      {"prokaryote", RunPreset::prokaryote}};

inline constexpr Word<bool> kYesNoWords[] = {{"yes", true}, {"no", false}};

struct AnnotateOptions {
  std::vector<std::string> files;  // FASTA files or "-"
  std::string tracks;              // PREFIX of PREFIX.plus.bw and PREFIX.minus.bw
  std::string output = "-", proteins, coding;
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
};

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

/// Throws Error. Then no output is left.
void run_annotate(const AnnotateOptions& options);

}  // namespace carbon
