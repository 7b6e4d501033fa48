// One variant on its way to its scores: which alleles can be scored and why others cannot, the requests of
// their windows, and one score per allele from their results.
//
// It has no VCF record, so that variants from other sources are scored by the same code.
#pragma once

#include <string>
#include <vector>

#include "src/vep/anchored_plan.hpp"
#include "src/vep/options.hpp"
#include "src/vep/plan.hpp"
#include "src/vep/reference.hpp"

namespace carbon {

/// A contig of the FASTA and what is known of its bases.
struct ContigReference {
  ReferenceReader& reader;
  const std::string& contig;  // its name in the FASTA
  int64_t length;             // -1: not in the FASTA

  ReferenceSlice slice(int64_t begin, int64_t end) const { return reader.slice(contig, length, begin, end); }
};

/// An ALT that is scored, in its normal form.
struct ScoredAllele {
  size_t alt = 0;
  NormalAllele form;
  /// For each strand, the plans of its phases and its number in them.
  struct Term {
    size_t plan = 0, allele = 0;
  };
  std::vector<std::vector<Term>> strands;
};

/// What one recipe makes of a site.
template <class Plan>
struct RecipeSite {
  std::vector<AlleleFlag> flags;  // one per ALT; empty if the recipe is not used
  std::vector<ScoredAllele> alleles;
  std::vector<Plan> plans;
};

struct VepSite {
  RecipeSite<CenteredPlan> centered;
  RecipeSite<NextTokenPlan> next_token;
  RecipeSite<AnchoredPlan> anchored;
  std::vector<RequestPtr> requests;

  /// The flag of an ALT: why its first missing score is missing.
  AlleleFlag flag(size_t alt) const;
  bool any_scored() const {
    return !centered.alleles.empty() || !next_token.alleles.empty() || !anchored.alleles.empty();
  }
};

/// Compares REF with the FASTA. `fasta_bases` becomes what the FASTA has there.
RecordCheck check_reference(const Variant& variant, const ContigReference& reference,
                            const VepOptions& options, std::string& fasta_bases);

/// Decides for each ALT and recipe whether it can be scored by a model of `max_positions` tokens, and makes
/// the normal forms of those that can.
void classify_alleles(const Variant& variant, RecordCheck check, const VepOptions& options,
                      size_t max_positions, const ContigReference& reference, VepSite& site);

/// The bases that the windows of the site's alleles can need.
ReferenceSlice fetch_windows(const VepSite& site, const VepOptions& options,
                             const ContigReference& reference);

/// Adds plans and requests to `site` for the ALTs that classify_alleles() found to be scorable, except those
/// of recipe anchored, for which see AnchoredBatch. `slice` is from fetch_windows(); `cache` may be null.
void plan_alleles(const ReferenceSlice& slice, const VepOptions& options, const TokenLayout& layout,
                  ScoreCache* cache, VepSite& site);

/// For each tag of score_tags() one score per ALT in nats, alternative minus reference: the mean over strands
/// of the means over phases, NaN for ALTs that are not scored.
using SiteValues = std::vector<std::vector<double>>;
/// Computes the scores from the finished requests. Scores that were not found in the cache are added to
/// `cache` (may be null). Throws Error naming `place` (contig:pos) for a score that is not finite as a float.
SiteValues site_values(const VepSite& site, const VepOptions& options, const std::string& place,
                       ScoreCache* cache);

}  // namespace carbon
