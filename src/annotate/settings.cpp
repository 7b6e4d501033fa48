#include <algorithm>

#include "src/annotate/run.hpp"
#include "src/base/error.hpp"
#include "src/base/numbers.hpp"
#include "src/files/file_name.hpp"

namespace carbon {
namespace {

constexpr int64_t kMostBases = int64_t{1} << 32;  // of a contig

void check_number(const char* name, double value, double most) {
  if (value >= 0 && value <= most) return;
  throw SettingError("annotate", name,
                     std::string(name) + " " + general_text(value, 6) + ": expected a number from 0 to " +
                         general_text(most, 7));
}

}  // namespace

AnnotateOutput annotate_output_type(const AnnotateOptions& options) {
  if (options.type) return *options.type;
  const std::string_view named = format_of_name(options.output);
  return named == "tsv"        ? AnnotateOutput::tsv
         : named == "bedgraph" ? AnnotateOutput::bedgraph
                               : AnnotateOutput::gff3;
}

SettingList window_settings(AnnotateOptions& options) {
  return {Setting("window", "BP", "window in bp, a multiple of 6", &options.window)
              .range(1, kMostBases)
              .otherwise("98304, or what the model takes"),
          Setting("overlap", "BP", "overlap of windows in bp, a multiple of 6", &options.overlap)
              .range(0, kMostBases)
              .otherwise("a sixteenth of a window")};
}

void complete_annotate_windows(AnnotateOptions& options, size_t max_positions, size_t token) {
  constexpr int64_t kDefaultTokens = 16384;
  const auto bases = static_cast<int64_t>(token), largest = bases * static_cast<int64_t>(max_positions);
  if (options.window == 0) options.window = std::min(kDefaultTokens * bases, largest);
  const auto refuse = [&](const char* name, int64_t value, const std::string& expected) {
    throw SettingError(
        "annotate", name,
        std::string(name) + " of " + std::to_string(value) + " bp cannot be used; expected " + expected,
        {std::string("set it with {--") + name + "}"});
  };
  if (options.window % bases != 0 || options.window > largest)
    refuse("window", options.window,
           "a multiple of " + std::to_string(bases) + " up to " + std::to_string(largest) +
               ", which the model's context of " + std::to_string(max_positions) + " tokens holds");
  if (!options.overlap) options.overlap = options.window / 16 / bases * bases;
  if (*options.overlap % bases != 0 || *options.overlap >= options.window)
    refuse(
        "overlap", *options.overlap,
        "a multiple of " + std::to_string(bases) + " below the window of " + std::to_string(options.window));
}

Setting mode_setting(AnnotateOptions& options) {
  return Setting("genes", "model|runs",
                 "what to call: model (genes with start, stop and introns) or runs (runs of coding bases as "
                 "the makers of the models clean them up)",
                 options.mode, kGeneModeWords)
      .shows_default();
}

SettingList gene_settings(AnnotateOptions& options) {
  GeneRules& rules = options.rules;
  return {
      Setting("gene-cost", "NATS", "what a gene costs", &rules.gene_cost).shows_default(),
      Setting("intron-cost", "NATS", "what an intron costs; one that begins with GC costs 5 more",
              &rules.intron_cost)
          .shows_default(),
      Setting("start", "CODON[,CODON...]", "start codons", &rules.starts).shows_default(),
      Setting("code", "INT", "genetic code by its number at the NCBI: its stops and amino acids", &rules.code)
          .shows_default(),
      Setting("introns", "yes|no",
              "whether genes have introns; without them, a gene may begin on the stop of the one before",
              rules.introns, kYesNoWords)
          .shows_default(),
      Setting("min-intron", "BP", "bases of the shortest intron", &rules.min_intron)
          .range(kLeastMinIntron, kMostMinIntron)
          .shows_default(),
      Setting("max-intron", "BP", "bases of the longest intron", &rules.max_intron)
          .range(0, kMostBases)
          .otherwise("0, no limit"),
      Setting("min-cds", "BP", "leave out genes with fewer coding bases", &options.filter.min_bases)
          .range(0, kMostBases)
          .shows_default(),
      Setting("min-score", "P", "leave out genes whose coding bases have a lower mean probability",
              &options.filter.min_mean)
          .shows_default()};
}

SettingList settings_of_runs(AnnotateOptions& options) {
  const auto bases = [](const char* name, const char* help, std::optional<int64_t>& value,
                        const char* otherwise) {
    return Setting(name, "BP", help, &value).range(0, kMostBases).otherwise(otherwise);
  };
  return {
      Setting("preset", "NAME", "the makers' values for a eukaryote or a prokaryote", options.preset,
              kRunPresetWords)
          .shows_default(),
      bases("stair-outward-shift", "how far an end of a run may move outwards", options.outward, "128"),
      bases("stair-inward-shift", "how far it may move inwards", options.inward, "0"),
      bases("stair-stop-run", "end the search after so many low bases in a row; 0: never", options.stop_run,
            "0; prokaryote: 4"),
      Setting("stair-stop-ratio", "SHARE",
              "a base is low up to this share of the probability at the run's own end", &options.stop_ratio)
          .shows_default(),
      bases("min-cds-length", "leave out runs of fewer bases", options.min_run, "4"),
      bases("min-gap-length", "fill gaps of fewer bases between runs", options.min_gap, "4; prokaryote: 1")};
}

void check_annotate_settings(const AnnotateOptions& options, const std::vector<std::string>& given) {
  AnnotateOptions unused;
  const bool of_genes = options.mode == GeneMode::model;
  const SettingList others = of_genes ? settings_of_runs(unused) : gene_settings(unused);
  for (const Setting& setting : others)
    if (std::find(given.begin(), given.end(), setting.name) != given.end())
      throw SettingError("annotate", setting.name,
                         setting.name + " has no meaning for genes " + word_of(kGeneModeWords, options.mode) +
                             "; leave it out",
                         {std::string("or set {--genes} ") + (of_genes ? "runs" : "model")});
  check_number("gene-cost", options.rules.gene_cost, kMostCost);
  check_number("intron-cost", options.rules.intron_cost, kMostCost);
  check_number("min-score", options.filter.min_mean, 1);
  check_number("stair-stop-ratio", options.stop_ratio, 1);
  parse_starts(options.rules.starts, GeneticCode(options.rules.code));
  const int64_t longest = options.rules.max_intron;
  if (longest > 0 && longest < options.rules.min_intron)
    throw SettingError("annotate", "max-intron",
                       "max-intron " + std::to_string(longest) + " is less than min-intron " +
                           std::to_string(options.rules.min_intron) + "; expected at least that, or 0");
}

RunRules run_rules(const AnnotateOptions& options) {
  RunRules rules = options.preset == RunPreset::prokaryote ? kProkaryoteRuns : RunRules();
  rules.outward = options.outward.value_or(rules.outward);
  rules.inward = options.inward.value_or(rules.inward);
  rules.stop_run = options.stop_run.value_or(rules.stop_run);
  rules.min_run = options.min_run.value_or(rules.min_run);
  rules.min_gap = options.min_gap.value_or(rules.min_gap);
  rules.stop_ratio = options.stop_ratio;
  return rules;
}

}  // namespace carbon
