// How often each score of a run occurs, by tag and by type of allele: the background in which `carbon +rank`
// places a score.
//
// A run that continues another reads all records again, so nothing of a histogram has to be kept.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "src/files/output.hpp"
#include "src/formats/vcf.hpp"
#include "src/statistics/rank_type.hpp"
#include "src/vep/output.hpp"
#include "src/vep/structural_info.hpp"

namespace carbon {

/// For each ALT of a record its index among kRankTypes, by the letters or, of a named allele, by what the
/// record says of its length. None for an ALT that cannot be scored.
std::vector<std::optional<size_t>> rank_types(const VcfRecord& record, const InfoSource& info);

/// The scores of some tags, counted.
class VepHistogram {
 public:
  /// A tag, and where its values are among those of a record.
  struct Tag {
    std::string id;
    size_t index;
  };
  explicit VepHistogram(std::vector<Tag> tags) : tags_(std::move(tags)), counts_(tags_.size()) {}

  /// Counts what has a score. `types` are those of rank_types().
  void add(const std::vector<std::optional<size_t>>& types, const SiteScores& scores);
  /// The line of names, and one line for each tag, type and bin that occur, in order.
  std::string text() const;

 private:
  using Bins = std::map<int64_t, uint64_t>;

  std::vector<Tag> tags_;
  std::vector<std::array<Bins, kRankTypeCount>> counts_;  // by tag and type
};

/// The file of a histogram. It appears when the run is complete.
class HistogramFile {
 public:
  /// Opens the file. `tags` are those of the run's recipes and `model_lines` their lines ##carbon_vepModel;
  /// `first_lines` stand before these. Tags of heads are left out: their scores have two directions, and a
  /// low one is no more unusual than a high one. Throws Error if no tag remains, or if the file cannot be
  /// written.
  HistogramFile(const std::string& path, TemporaryName name, const std::vector<std::string>& first_lines,
                const std::vector<InfoTag>& tags, const std::vector<std::string>& model_lines,
                const std::string& prefix);

  VepHistogram& counts() { return *counts_; }
  /// Writes everything; commit() gives the file its name. Both throw Error.
  void finish();
  void commit() { output_.commit(); }

 private:
  std::string header_;
  std::optional<VepHistogram> counts_;
  TextOutput output_;
};

}  // namespace carbon
