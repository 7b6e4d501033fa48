// Where the annotated records of `carbon vep` go: a VCF or BCF, or a table with a line an ALT.
//
// Knows how scores are printed, not how they are computed.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "src/genome/vcf.hpp"

namespace carbon {

struct TagNames {
  explicit TagNames(const std::string& prefix)
      : llr(prefix + "_LLR"), nt(prefix + "_NT"), flag(prefix + "_FLAG") {}
  std::string llr, nt, flag;
};

/// What is said of one record, each with an entry per ALT.
struct SiteScores {
  std::vector<float> centered, next_token;  // NaN: missing; empty when the recipe is not asked for
  std::vector<std::string> flags;           // "" where nothing is missing
};

class SiteOutput {
 public:
  virtual ~SiteOutput() = default;
  virtual void write(VcfRecord& record, const SiteScores& scores) = 0;
  /// Hands on what was written so far.
  virtual void flush() = 0;
  /// Flushes, closes, checks, renames. Without it no output file remains.
  virtual void close() = 0;
};

/// A table when output_type(options) is 't', else a VCF or BCF; `options.tags` are those of the run, in the
/// order of the table's columns. Make it before another thread calls reader.next().
std::unique_ptr<SiteOutput> make_site_output(const VcfReader& reader, const VcfWriterOptions& options,
                                             const TagNames& tags);

}  // namespace carbon
