// What carbon annotate writes of each contig: GFF3 with proteins and coding sequences, a table, bedGraph, or
// bigWig tracks.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "src/annotate/gene.hpp"
#include "src/annotate/probabilities.hpp"
#include "src/files/temporary_files.hpp"
#include "src/formats/fasta.hpp"

namespace carbon {

struct AnnotateOptions;

/// A contig whose probabilities are complete.
struct AnnotatedContig {
  const FastaRecord& record;
  size_t number = 0;             // among those of the input
  std::vector<Interval> wanted;  // bases whose values are written, ascending
  const Probabilities& probabilities;
};

/// Of one kind. All functions throw Error; without commit() no file is left.
class ContigOutput {
 public:
  virtual ~ContigOutput() = default;
  virtual void write(const AnnotatedContig& contig) = 0;
  /// Completes the files except for their names, which commit() gives them.
  virtual void finish() = 0;
  virtual void commit() = 0;
  /// Passes what is written on to a stream.
  virtual void flush() {}
};

/// The contigs of a run, whose names must differ.
class DistinctContigs {
 public:
  explicit DistinctContigs(const AnnotateOptions& options);
  /// Throws Error for a contig with the name of another, for one whose lines would be comments, and for one
  /// that is too long for a bigWig.
  void check(const std::string& path, const FastaRecord& contig);

 private:
  bool lines_begin_with_names_;
  std::unordered_set<std::string> names_;
};

using Contigs = std::vector<std::pair<std::string, int64_t>>;

/// What the options ask for; `name` is that of temporary files for text. `lines`: what header lines say of
/// the run; `contigs`: those of the input, which bigWig files begin with.
std::vector<std::unique_ptr<ContigOutput>> open_outputs(const AnnotateOptions& options,
                                                        const std::vector<std::string>& lines,
                                                        const Contigs& contigs,
                                                        TemporaryName name = TemporaryName::unique);

/// True if an output has to know all contigs before the first one is written.
bool needs_contigs(const AnnotateOptions& options);

}  // namespace carbon
