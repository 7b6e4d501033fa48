// carbon annotate with the probabilities of tracks.
#include "src/annotate/run.hpp"

#include "src/annotate/outputs.hpp"
#include "src/annotate/probabilities.hpp"
#include "src/base/error.hpp"
#include "src/base/json.hpp"
#include "src/base/words.hpp"
#include "src/formats/bigwig_reader.hpp"
#include "src/formats/fasta.hpp"

namespace carbon {
namespace {

constexpr char kFunction[] = "annotate";

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
  int64_t read(const std::string& contig, ScratchProbabilities& probabilities) const {
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

}  // namespace

std::string plus_track(const std::string& prefix) {
  return prefix + ".plus.bw";
}
std::string minus_track(const std::string& prefix) {
  return prefix + ".minus.bw";
}

void run_annotate_tracks(const AnnotateOptions& options) {
  const Tracks tracks(options.from_tracks);
  const auto outputs = open_outputs(options, provenance_lines(kFunction, options.record, {}), {});
  Progress progress(*options.log, options.progress, kFunction, "bp");
  DistinctContigs names(options);
  int64_t done = 0, missing = 0;
  size_t number = 0;
  for (const std::string& path : options.inputs.files) {
    FastaReader reader(path, *options.log);
    for (FastaRecord contig; reader.next(contig);) {
      const auto bases = static_cast<int64_t>(contig.sequence.size());
      names.check(path, contig);
      if (bases == 0) continue;
      tracks.check(contig.name, bases);
      ScratchProbabilities probabilities(bases);
      missing += tracks.read(contig.name, probabilities);
      for (const auto& output : outputs) output->write({contig, number, {{0, bases}}, probabilities});
      ++number;
      progress.update(static_cast<uint64_t>(done += bases), contig.name);
    }
  }
  progress.finish();
  for (const auto& output : outputs) output->finish();
  for (const auto& output : outputs) output->commit();
  if (missing > 0)
    options.log->warning(kFunction, count_of(static_cast<uint64_t>(missing), "base") +
                                        " of the two strands have no value in the tracks; their probability "
                                        "is taken as 0");
}

}  // namespace carbon
