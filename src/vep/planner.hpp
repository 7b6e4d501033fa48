// The planner of `carbon vep`: records in, planned sites with their requests out.
//
// Checks each record against the FASTA, decides per allele and recipe whether it can be scored and why not,
// cuts the windows. Runs in its own thread; owns the FASTA.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "src/genome/contig_names.hpp"
#include "src/genome/fasta.hpp"
#include "src/genome/vcf.hpp"
#include "src/vep/resume.hpp"
#include "src/vep/site.hpp"

namespace carbon {

/// What the last line on stderr reports: total and scored count records, the rest alleles by reported flag.
struct VepCounts {
  uint64_t total = 0, scored = 0;
  std::array<uint64_t, kAlleleFlags> alleles{};
};

/// One record on its way through the run.
struct PlannedRecord {
  VcfRecord record;
  VepSite site;
  std::vector<RequestPtr> requests;  // of the site
  /// Of all that the scores depend on; there is one if there is a journal and any allele is scored.
  std::optional<Sha256Bytes> digest;
  /// From the journal: a value per ALT of each recipe, NaN where missing. There are no plans and requests
  /// then.
  std::optional<std::vector<float>> saved;

  size_t bytes() const { return record.bytes() + requests.size() * sizeof(CenteredPlan); }
};

class VepPlanner {
 public:
  /// `cache` may be null.
  VepPlanner(const VepOptions& options, const TokenLayout& layout, ScoreCache* cache);

  /// Reads all records of `next`, calling `emit` for each that is kept. Scores that `journal` (may be null)
  /// holds are taken from it. Throws Error for a reference mismatch under `-c e`, for a share of mismatches
  /// that says "wrong assembly", when no contig name is in the FASTA, and for records that are not those of
  /// the journal.
  void run(const RecordSource& next, Journal* journal, const std::function<void(PlannedRecord)>& emit);
  /// A contig of the file, of which run() may see a share only: whether any name is in the FASTA is judged of
  /// the whole file, so that the shares fail or succeed together.
  void note_contig(const std::string& vcf_name) { find_contig(vcf_name); }

  const VepCounts& counts() const { return counts_; }
  const IndexedFasta& fasta() const { return fasta_; }
  const ContigNames& names() const { return names_; }

 private:
  struct Contig {
    std::string name;  // the FASTA's
    int64_t length;    // -1: not in the FASTA
  };

  bool plan(PlannedRecord& planned, Journal* journal);
  const Contig& find_contig(const std::string& vcf_name);
  void note_mismatch(const VcfRecord& record, const std::string& fasta_bases);
  void check_share(bool at_end) const;
  [[noreturn]] void no_names_match() const;

  const VepOptions& options_;
  TokenLayout layout_;
  ScoreCache* cache_;
  IndexedFasta fasta_;
  ContigNames names_;
  VepCounts counts_;
  uint64_t checkable_ = 0, mismatches_ = 0;
  bool any_contig_found_ = false;
  std::unordered_map<std::string, Contig> contigs_;  // by the VCF's name, as records name them
  std::vector<std::string> unknown_contigs_;         // in order of appearance
};

}  // namespace carbon
