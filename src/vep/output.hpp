// Where the annotated records of `carbon vep` go: a VCF or BCF, or a table with one line per ALT.
//
// It knows how scores are printed, not how they are computed.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "src/base/words.hpp"
#include "src/files/output.hpp"
#include "src/formats/vcf.hpp"
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

/// The texts of the flags of a record's ALTs; where this run has all scores of one, the reason of an earlier
/// run, whose scores are kept, if `earlier` has one (else "." or nothing).
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

}  // namespace carbon
