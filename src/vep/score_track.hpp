// The output type bigwig of `carbon vep`: the lowest score at each position, for genome browsers.
//
// A position is the POS of records, as they are written: there the browser shows the variants, too. A bigWig
// is written in the order of its contigs and positions, which records need not have, so the scores are
// collected and sorted, in memory that is limited.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "src/files/temporary_files.hpp"
#include "src/vep/output.hpp"
#include "src/vep/recipe.hpp"

namespace carbon {

/// Throws Error unless the run has one score for each ALT, which is a log-likelihood ratio: of several it
/// would not be clear which one a track shows, and of other scores the lowest says nothing. `tags` are those
/// of the recipes, then that of tables, if there are any.
void check_track_tags(const std::vector<InfoTag>& tags, const RecipeList& recipes);

/// The length of a contig by its name in the VCF, or -1 if it is not known.
using ContigLength = std::function<int64_t(const std::string& contig)>;

/// An output that takes the first tag of each record. The file has the `contigs` whose length is known, in
/// their order, and after them those that only records have. Throws Error, when it is closed, if the length
/// of a contig with scores is not known.
std::unique_ptr<SiteOutput> make_track_output(const std::string& path, std::vector<std::string> contigs,
                                              ContigLength length);

/// The lowest of the scores that were added at each place, in the order of places.
class LowestScores {
 public:
  struct Place {
    uint32_t contig = 0, position = 0;
    float lowest = 0;
  };

  /// So many places are kept in memory, and more in a file in $TMPDIR.
  explicit LowestScores(size_t most_in_memory = size_t{1} << 22);
  ~LowestScores();
  LowestScores(const LowestScores&) = delete;
  LowestScores& operator=(const LowestScores&) = delete;

  /// Throws Error if the file cannot be written.
  void add(const Place& place);
  /// Calls `take` for each place that was added, once. Nothing may be added afterwards. Throws Error if the
  /// file cannot be written or read.
  void each(const std::function<void(const Place&)>& take);

 private:
  class Run;

  void sort();
  void spill();

  size_t most_;
  std::vector<Place> places_;
  std::unique_ptr<PrivateDirectory> folder_;  // of the file, if there is one
  int fd_ = -1;
  std::vector<uint64_t> ends_;  // of the sorted runs of places in the file, in bytes
};

}  // namespace carbon
