// One variant on its way from the FASTA to its scores: which alleles can be scored and why others cannot, the
// requests that its windows make, and their results as one score per allele.
//
// It owns no VCF record, so that variants that come from elsewhere take the same way.
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
  std::vector<AlleleFlag> centered, next_token;  // one per ALT; empty when the recipe is not asked for
  std::vector<size_t> centered_alts, next_token_alts;
  std::vector<CenteredPlan> centered_plans;     // one per strand
  std::vector<NextTokenPlan> next_token_plans;  // one per strand
  std::vector<RequestPtr> requests;

  /// The flag of an ALT: the reason why the first missing tag is missing.
  AlleleFlag flag(size_t alt) const;
  bool any_scored() const { return !centered_alts.empty() || !next_token_alts.empty(); }
};

/// Upper-case bases of the contig that a variant's check and windows can touch; `length` is the contig's.
ReferenceSlice fetch_reference(const VepOptions& options, const IndexedFasta& fasta,
                               const std::string& contig, int64_t length, const Variant& variant);

/// Decides for each ALT and recipe whether it can be scored.
void classify_alleles(const Variant& variant, RecordCheck check, const VepOptions& options, VepSite& site);

/// Adds plans and requests for the ALTs that can be scored to a site that is classified. `cache` may be null.
void plan_alleles(const Variant& variant, const ReferenceSlice& slice, const VepOptions& options,
                  const TokenLayout& layout, ScoreCache* cache, VepSite& site);

/// One score per ALT and recipe in nats, alternative minus reference: the mean over strands, NaN for ALTs
/// that are not scored. Empty for a recipe that is not asked for.
struct SiteValues {
  std::vector<double> centered, next_token;
};
/// Reads the scores off the finished requests. Scores that were computed, not cached, are added to `cache`
/// (may be null). Throws Error naming `place` (contig:pos) for a score that is not finite as a float.
SiteValues site_values(const VepSite& site, const std::string& place, ScoreCache* cache);

}  // namespace carbon
