// One variant on its way to its scores: which alleles can be scored and why others cannot, the requests of
// their windows, and what one score per allele is read from.
//
// It has no VCF record, so that variants from other sources are scored by the same code, and knows no recipe.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "src/engine/request.hpp"
#include "src/vep/score_cache.hpp"
#include "src/vep/variant.hpp"

namespace carbon {

/// The log-likelihood ratios of one allele on one strand in one phase, for each tag of its recipe.
class AlleleRatios {
 public:
  virtual ~AlleleRatios() = default;
  /// In nats, alternative minus reference; exactly 0 for an allele equal to the reference. The requests of
  /// the site, and of those that it shares windows with, must be finished.
  virtual double llr(size_t tag) const = 0;
  /// The key for adding the ratio to the score cache; null if it need not be added.
  virtual const ScoreKey* missing(size_t tag) const = 0;
};

/// An ALT that is scored, in its normal form.
struct ScoredAllele {
  size_t alt = 0;
  NormalAllele form;
  std::vector<std::vector<std::unique_ptr<const AlleleRatios>>> strands = {};  // by strand, then by phase
};

/// What one recipe makes of a site.
struct RecipeSite {
  std::vector<AlleleFlag> flags;  // one per ALT
  std::vector<ScoredAllele> alleles;
};

struct VepSite {
  std::vector<RecipeSite> recipes;  // of the run, in its order
  std::vector<RequestPtr> requests;

  /// The flag of an ALT: why its first missing score is missing.
  AlleleFlag flag(size_t alt) const;
  bool any_scored() const;
};

/// For each tag of the run's recipes one score per ALT in nats, alternative minus reference: the mean over
/// strands of the means over phases, NaN for ALTs that are not scored.
using SiteValues = std::vector<std::vector<double>>;

}  // namespace carbon
