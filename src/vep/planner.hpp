// The reading half of `carbon vep`: records to planned sites.
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
#include "src/vep/plan.hpp"
#include "src/vep/resume.hpp"
#include "src/vep/run.hpp"

namespace carbon {

/// What the last line on stderr reports: total and scored count records, the rest alleles by reported flag.
struct VepCounts {
  uint64_t total = 0, scored = 0;
  std::array<uint64_t, kAlleleFlags> alleles{};
};

/// One record on its way through the pipeline. A plan's i-th allele is record allele `centered_alts[i]` or
/// `next_token_alts[i]`.
struct VepSite {
  VcfRecord record;
  std::vector<AlleleFlag> centered, next_token;  // per ALT; empty when the recipe is not asked for
  std::vector<size_t> centered_alts, next_token_alts;
  std::vector<CenteredPlan> centered_plans;     // one a strand
  std::vector<NextTokenPlan> next_token_plans;  // one a strand
  std::vector<ScoreJob> jobs;
  std::optional<Sha256Bytes>
      digest;  // of all that the scores depend on; with a journal, if any allele is scored
  /// From the journal: a value per ALT of each recipe, NaN where missing. There are no plans and jobs then.
  std::optional<std::vector<float>> saved;

  /// The flag of an ALT: the reason of the first tag that is missing.
  AlleleFlag flag(size_t alt) const;
};

std::vector<Strand> strands_of(Recipe recipe, VepStrand option);

/// Everything a variant's check and windows can touch, upper-case; `length` is the contig's.
ReferenceSlice fetch_reference(const VepOptions& options, const IndexedFasta& fasta,
                               const std::string& contig, int64_t length, const Variant& variant);

/// Decides for each ALT and recipe whether it can be scored. Looks at nothing of `site`.
void classify_alleles(const Variant& variant, RecordCheck check, const VepOptions& options, VepSite& site);

/// Adds the plans and jobs of the ALTs that can be scored to `site`, which is classified; does not look at
/// its record.
void plan_alleles(const Variant& variant, const ReferenceSlice& slice, const VepOptions& options,
                  const TokenLayout& layout, ScoreCache* cache, VepSite& site);

class VepReader {
 public:
  /// `cache` may be null.
  VepReader(const VepOptions& options, const TokenLayout& layout, ScoreCache* cache);

  /// Reads all records of `next`, calling `emit` for each that is kept. Scores that `journal` (may be null)
  /// holds are taken from it. Throws Error for a reference mismatch under `-c e`, for a share of mismatches
  /// that says "wrong assembly", when no contig name is in the FASTA, and for records that are not those of
  /// the journal.
  void run(const RecordSource& next, Journal* journal, const std::function<void(VepSite)>& emit);
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

  bool plan(VepSite& site, Journal* journal);
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
