// The anchored recipe for one allele on one strand in one phase: its request, and its log-likelihood ratios
// from the results.
//
// The reference window runs once for all alleles that share it. An allele forks from it at the first 6-mer
// that differs and runs from there to the horizon.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/engine/request.hpp"
#include "src/vep/score_cache.hpp"
#include "tokenizer/kmer.hpp"

namespace carbon {

/// A window of the reference, in reading direction.
struct AnchoredWindow {
  std::string bases;
  RequestPtr reference;  // null if nothing is computed
  size_t first_row = 0;  // the 6-mer that the first row of its values belongs to
};

class AnchoredPlan {
 public:
  /// `alternative` has the window's bases from 6-mer `first` on with the alternative; up to `ends[h]` of them
  /// are compared for horizon h, which ascend. With `cache` (may be null) known ratios are looked up.
  AnchoredPlan(std::shared_ptr<const AnchoredWindow> window, size_t first, std::string alternative,
               std::vector<size_t> ends, Strand strand, ScoreCache* cache);

  /// True if the ratio of some horizon has to be computed.
  bool computes() const;
  /// The first 6-mer of the window in which the alleles differ.
  size_t diverge() const { return diverge_; }
  /// How many bases of the window, from its beginning, are compared.
  size_t end() const { return first_ * kKmerLength + alternative_.size(); }
  /// Makes the request for the 6-mers of the alternative after diverge(), a child of `reference`, which runs
  /// the window. Null if there are none.
  RequestPtr make_suffix(const RequestPtr& reference, const TokenLayout& layout);

  /// The log-likelihood ratio for a horizon in nats, alternative minus reference; exactly 0 for an allele
  /// equal to the reference. The requests must be finished.
  double llr(size_t horizon) const;
  /// The key for adding a ratio to the cache; null if it need not be added.
  const ScoreKey* missing(size_t horizon) const;

 private:
  std::string_view reference() const { return std::string_view(window_->bases).substr(first_ * kKmerLength); }

  std::shared_ptr<const AnchoredWindow> window_;
  size_t first_, diverge_ = 0;
  bool differs_ = false;
  std::string alternative_;
  std::vector<size_t> ends_;
  std::vector<std::optional<CachedScore>> cached_;  // one per horizon; none: no cache, or nothing to compute
  RequestPtr suffix_;
};

}  // namespace carbon
