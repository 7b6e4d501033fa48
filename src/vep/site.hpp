// One variant on its way to its scores: which alleles can be scored and why others cannot, the requests of
// its windows, and one score per allele from their results.
//
// It has no VCF record, so that variants from other sources are scored by the same code.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "src/genome/fasta.hpp"
#include "src/vep/options.hpp"
#include "src/vep/plan.hpp"

namespace carbon {

/// A plan's i-th allele is ALT `centered_alts[i]` or `next_token_alts[i]` of the variant.
struct VepSite {
  std::vector<AlleleFlag> centered, next_token;  // one per ALT; empty if the recipe is not used
  std::vector<size_t> centered_alts, next_token_alts;
  std::vector<CenteredPlan> centered_plans;     // one per strand
  std::vector<NextTokenPlan> next_token_plans;  // one per strand
  std::vector<RequestPtr> requests;

  /// The flag of an ALT: why its first missing score is missing.
  AlleleFlag flag(size_t alt) const;
  bool any_scored() const { return !centered_alts.empty() || !next_token_alts.empty(); }
};

/// Fetches the contig's bases that the check and the windows of a variant can need, in upper case. `length`
/// is the contig's.
ReferenceSlice fetch_reference(const VepOptions& options, const IndexedFasta& fasta,
                               const std::string& contig, int64_t length, const Variant& variant);

/// Decides for each ALT and recipe whether it can be scored.
void classify_alleles(const Variant& variant, RecordCheck check, const VepOptions& options, VepSite& site);

/// Adds plans and requests to `site` for the ALTs that classify_alleles() found to be scorable. `cache` may
/// be null.
void plan_alleles(const Variant& variant, const ReferenceSlice& slice, const VepOptions& options,
                  const TokenLayout& layout, ScoreCache* cache, VepSite& site);

/// One score per ALT and recipe in nats, alternative minus reference: the mean over strands, NaN for ALTs
/// that are not scored. Empty for a recipe that is not used.
struct SiteValues {
  std::vector<double> centered, next_token;
};
/// Computes the scores from the finished requests. Scores that were not found in the cache are added to
/// `cache` (may be null). Throws Error naming `place` (contig:pos) for a score that is not finite as a float.
SiteValues site_values(const VepSite& site, const std::string& place, ScoreCache* cache);

}  // namespace carbon
