// Where the results of `carbon vep` go: the annotated records into a VCF or BCF, or a table with one line per
// ALT; beside them the histogram of the scores and the embeddings; at the end the summary.
//
// It knows how scores are printed, not how they are computed.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/base/log.hpp"
#include "src/base/words.hpp"
#include "src/files/output.hpp"
#include "src/formats/matrix_output.hpp"
#include "src/formats/vcf.hpp"
#include "src/statistics/allele_type.hpp"
#include "src/vep/site.hpp"
#include "src/vep/structural.hpp"
#include "src/vep/variant.hpp"

namespace carbon {

/// The scores of one record, each with one entry per ALT.
struct SiteScores {
  std::vector<std::vector<float>> values;  // for each tag of score_tags(); NaN: missing
  std::vector<std::string> flags;          // why a score is missing; "" if none is
};

/// What stands before the rows of a table: lines ## and the line #CHROM, or the names of the columns alone.
enum class TableHeader { full, plain };
inline constexpr Word<TableHeader> kTableHeaderWords[] = {{"full", TableHeader::full},
                                                          {"plain", TableHeader::plain}};

/// Scores of an earlier run that the output keeps, and the tag that says why one is missing; "": none.
struct KeptScores {
  std::vector<std::string> tags;
  std::string flag;
};

/// For each ALT of a record why it lacks one of the kept scores, by the earlier run; "." for one that has all
/// of them. Empty if the record says nothing.
std::vector<std::string> kept_reasons(const KeptScores& kept, const InfoSource& info);

/// The texts of the flags of a record's ALTs. `earlier` has the reasons of an earlier run whose scores are
/// kept ("." or nothing where it has none): of two reasons the first of AlleleFlag is written, as by one run.
std::vector<std::string> flag_texts(const std::vector<AlleleFlag>& flags,
                                    const std::vector<std::string>& earlier);

class SiteOutput {
 public:
  virtual ~SiteOutput() = default;
  virtual void write(VcfRecord& record, const SiteScores& scores) = 0;
  virtual Output& file() = 0;
};

/// Opens a table if output_type(options) is 't', else a VCF or BCF. `options.tags` are the tags of the run,
/// in the order of the table's columns: those of the scores, and the flag. Call it before another thread
/// calls reader.next(). Throws Error.
std::unique_ptr<SiteOutput> make_site_output(const VcfReader& reader, const VcfWriterOptions& options,
                                             TableHeader header = TableHeader::full);

/// For each ALT of a record its index among kRankTypes, by the letters or, of a named allele, by what the
/// record says of its length. None for an ALT that cannot be scored.
std::vector<std::optional<size_t>> rank_types(const VcfRecord& record, const InfoSource& info);

/// How often each score of some tags occurs, by tag and by type of allele: the background in which
/// `carbon +rank` places a score.
///
/// A run that continues another reads all records again, so nothing of a histogram has to be kept.
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
  /// Opens the file. `lines` are those before the table. `tags` are those of log-likelihood ratios: what
  /// other tags have is not ranked from low to high. Throws Error if there is none, or if the file cannot be
  /// written.
  HistogramFile(const std::string& path, TemporaryName name, const std::vector<std::string>& lines,
                std::vector<VepHistogram::Tag> tags);

  VepHistogram& counts() { return *counts_; }
  /// Writes everything; commit() gives the file its name. Both throw Error.
  void finish();
  void commit() { output_.commit(); }

 private:
  std::string header_;
  std::optional<VepHistogram> counts_;
  TextOutput output_;
};

/// Throws Error unless `path` names a .safetensors or .npy file that can be written.
void check_embeddings_file(const std::string& path);

/// The rows of alleles as one list, which a journal keeps: `ref` and `alt` of each, [2, hidden]; NaN for one
/// that has none.
std::vector<float> joined_rows(const std::vector<std::optional<AlleleMeans>>& alleles, size_t hidden);

/// `carbon vep --embeddings`: for each scored ALT the mean hidden states of the windows with the reference
/// and with the alternative, as a matrix with a table of its rows beside it (docs/conventions.md, "Embeddings
/// of variants").
///
/// safetensors: tensors `ref` and `alt` [n, hidden]. npy: [n, 2 * hidden], the reference first.
/// STEM.variants.tsv says which ALT a row belongs to.
class VariantEmbeddings {
 public:
  /// `lines` are those of the output's header. Throws Error, as do the other functions.
  VariantEmbeddings(const std::string& path, size_t hidden, const std::vector<std::string>& lines);

  size_t hidden() const { return hidden_; }
  /// Writes the rows of an ALT, [2, hidden], unless they are NaN.
  void write(const VcfRecord& record, size_t alt, std::span<const float> rows);
  void finish() { matrix_.finish(); }
  void commit() { matrix_.commit(); }

 private:
  size_t hidden_;
  ArrayFormat format_;
  MatrixOutput matrix_;
};

/// Alleles by their flag.
using AlleleCounts = std::array<uint64_t, kAlleleFlags>;
inline void count_alleles(const std::vector<AlleleFlag>& flags, AlleleCounts& counts) {
  for (const AlleleFlag flag : flags) ++counts[static_cast<size_t>(flag)];
}

/// `total`, `scored` and `neighbours` (NeighbourCount) count records.
struct VepCounts {
  uint64_t total = 0, scored = 0, neighbours = 0;
  AlleleCounts alleles{};
  bool measures = false;  // whether changes_length is among the flags that the run may give
};

/// Tells the counts to the log: in words those that are not 0, as numbers all.
void print_summary(const VepCounts& counts, Log& log);

}  // namespace carbon
