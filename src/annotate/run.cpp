#include "src/annotate/run.hpp"

#include <limits>
#include <memory>
#include <unordered_set>
#include <utility>

#include "src/annotate/genetic_code.hpp"
#include "src/annotate/gff3.hpp"
#include "src/annotate/probabilities.hpp"
#include "src/base/error.hpp"
#include "src/base/json.hpp"
#include "src/files/output.hpp"
#include "src/formats/bigwig_reader.hpp"
#include "src/formats/fasta.hpp"

namespace carbon {
namespace {

constexpr char kFunction[] = "annotate";
constexpr int64_t kMostBases = std::numeric_limits<uint32_t>::max();  // as in a bigWig

/// The tracks of both strands.
class Tracks {
 public:
  explicit Tracks(const std::string& prefix)
      : paths_{plus_track(prefix), minus_track(prefix)},
        plus_(paths_[0], kFunction),
        minus_(paths_[1], kFunction) {}

  /// Throws Error if a track lacks a contig or has another length for it.
  void check(const std::string& contig, int64_t bases) const {
    for (const bool reverse : {false, true}) {
      const int64_t length = track(reverse).length(contig);
      if (length == bases) continue;
      const std::string where = paths_[reverse] + ": the contig " + printable(contig);
      if (length < 0)
        throw Error(kFunction,
                    where + " of the FASTA is not in this track; give the tracks of these sequences");
      throw Error(kFunction, where + " has " + std::to_string(length) + " bases here and " +
                                 std::to_string(bases) + " in the FASTA; give the tracks of these sequences");
    }
  }

  /// Returns how many bases have no value.
  int64_t read(const std::string& contig, Probabilities& probabilities) const {
    int64_t missing = 0;
    for (const bool reverse : {false, true})
      missing += read_track(track(reverse), paths_[reverse], contig, reverse, probabilities);
    return missing;
  }

 private:
  const BigwigReader& track(bool reverse) const { return reverse ? minus_ : plus_; }

  std::string paths_[2];
  BigwigReader plus_, minus_;
};

// The header line that says how calls were made.
std::string decoder_line(const AnnotateOptions& options) {
  AnnotateOptions shown = options;
  const RunRules rules = run_rules(options);
  shown.outward = rules.outward;
  shown.inward = rules.inward;
  shown.stop_run = rules.stop_run;
  shown.min_run = rules.min_run;
  shown.min_gap = rules.min_gap;
  SettingList settings = {mode_setting(shown)};
  for (Setting& setting : options.mode == GeneMode::model ? gene_settings(shown) : settings_of_runs(shown))
    settings.push_back(std::move(setting));
  return "##carbon_annotateDecoder=<" + header_text(setting_values(settings)) + ">";
}

std::string header(const AnnotateOptions& options) {
  std::string text = "##gff-version 3\n";
  // Programs that read GFF3 know the directives of ##, and take #! for those of others.
  for (const std::string& line : provenance_lines(kFunction, options.record, {decoder_line(options)}))
    text += "#!" + line.substr(2) + "\n";
  return text;
}

/// The files of a run, which appear together.
class Outputs {
 public:
  explicit Outputs(const AnnotateOptions& options) : options_(options), genes_(options.output) {
    if (!options.proteins.empty()) proteins_ = std::make_unique<TextOutput>(options.proteins);
    if (!options.coding.empty()) coding_ = std::make_unique<TextOutput>(options.coding);
    genes_.write(header(options));
  }

  void write(const FastaRecord& contig, const std::vector<GeneCall>& calls) {
    genes_.write(gff3_region(contig.name, static_cast<int64_t>(contig.sequence.size())));
    for (size_t i = 0; i < calls.size(); ++i) write(contig, calls[i], i + 1);
  }

  void close() {
    for (TextOutput* output : {&genes_, proteins_.get(), coding_.get()})
      if (output) output->finish();
    for (TextOutput* output : {&genes_, proteins_.get(), coding_.get()})
      if (output) output->commit();
  }

 private:
  void write(const FastaRecord& contig, const GeneCall& call, size_t number) {
    std::string text;
    if (options_.mode == GeneMode::runs) {
      append_run(call, contig.name, number, text);
      return genes_.write(text);
    }
    append_gene(call, contig.name, number, text);
    genes_.write(text);
    if (proteins_) {
      text.clear();
      append_protein(call, contig.name, number, contig.sequence, code_, text);
      proteins_->write(text);
    }
    if (coding_) {
      text.clear();
      append_coding_sequence(call, contig.name, number, contig.sequence, text);
      coding_->write(text);
    }
  }

  const AnnotateOptions& options_;
  const GeneticCode code_{options_.rules.code};
  TextOutput genes_;
  std::unique_ptr<TextOutput> proteins_, coding_;
};

}  // namespace

std::string plus_track(const std::string& prefix) {
  return prefix + ".plus.bw";
}
std::string minus_track(const std::string& prefix) {
  return prefix + ".minus.bw";
}

void run_annotate(const AnnotateOptions& options) {
  const Tracks tracks(options.tracks);
  Outputs outputs(options);
  Progress progress(*options.log, options.progress, kFunction, "bp");
  std::unordered_set<std::string> names;
  int64_t done = 0, missing = 0;
  for (const std::string& path : options.files) {
    FastaReader reader(path, *options.log);
    for (FastaRecord contig; reader.next(contig);) {
      const auto bases = static_cast<int64_t>(contig.sequence.size());
      if (!names.insert(contig.name).second)
        throw Error(kFunction, path + ": two sequences are called " + printable(contig.name) +
                                   ", so their genes would have the same IDs; rename one of them");
      if (bases == 0) continue;
      if (bases > kMostBases)
        throw Error(kFunction, path + ": " + printable(contig.name) + " has " + std::to_string(bases) +
                                   " bases; sequences of up to " + std::to_string(kMostBases) + " are read");
      tracks.check(contig.name, bases);
      Probabilities probabilities(bases);
      missing += tracks.read(contig.name, probabilities);
      outputs.write(contig, options.mode == GeneMode::runs
                                ? call_runs(probabilities, run_rules(options))
                                : call_genes(contig.sequence, probabilities, options.rules, options.filter));
      progress.update(static_cast<uint64_t>(done += bases), contig.name);
    }
  }
  progress.finish();
  outputs.close();
  if (missing > 0)
    options.log->warning(kFunction, count_of(static_cast<uint64_t>(missing), "base") +
                                        " of the two strands have no value in the tracks; their probability "
                                        "is taken as 0");
}

}  // namespace carbon
