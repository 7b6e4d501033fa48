// One variant site as requests to the engine, and their results as log-likelihood ratios.
//
// Exact work sharing: the reference window runs once a strand; each alternative allele forks at the 6-mer
// where it first differs and runs only its suffix; rows before that cancel and are never read. An allele
// whose ratio is in the score cache runs nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/engine/request.hpp"
#include "src/vep/centered.hpp"
#include "src/vep/next_token.hpp"
#include "src/vep/score_cache.hpp"
#include "tokenizer/kmer.hpp"

namespace carbon {

/// The centered recipe on one strand of one site.
class CenteredPlan {
 public:
  /// Cuts the windows of `alts` (scorable alleles), looks them up in `cache` (may be null) and appends the
  /// requests that the others need to `requests`.
  CenteredPlan(int64_t pos, const std::string& ref, const std::vector<std::string>& alts,
               const ReferenceSlice& slice, int64_t window, Strand strand, const TokenLayout& layout,
               std::vector<RequestPtr>& requests, ScoreCache* cache = nullptr);
  /// Nats, alt minus ref, of the i-th of `alts`; exactly 0 for an allele equal to the reference. The requests
  /// are finished.
  double llr(size_t i) const;
  /// The key under which the i-th ratio is to go into the cache; null if it is not.
  const ScoreKey* missing(size_t i) const;

 private:
  struct Allele {
    std::optional<CachedScore> cached;  // none: no cache, or nothing to compute
    bool differs = false;
    size_t diverge = 0;  // first 6-mer whose letters differ
    RequestPtr suffix;   // the 6-mers after that one; null where there are none or nothing is computed
  };

  CenteredWindows windows_;
  std::vector<Allele> alleles_;
  RequestPtr reference_;  // null where nothing is computed
  size_t first_row_ = 0;  // the 6-mer that the first row of its values speaks of
};

/// The next-token recipe on one strand of one site: one row serves every SNV allele.
class NextTokenPlan {
 public:
  /// As CenteredPlan's; `ref` and `alts` are one base each, forward-strand letters.
  NextTokenPlan(int64_t pos, const std::string& ref, const std::vector<std::string>& alts,
                const ReferenceSlice& slice, int64_t context, Strand strand, const TokenLayout& layout,
                std::vector<RequestPtr>& requests, ScoreCache* cache = nullptr);
  /// ln(P_0(alt) / P_0(ref)) of the i-th of `alts`. The requests are finished.
  double llr(size_t i) const;
  const ScoreKey* missing(size_t i) const;

 private:
  struct Allele {
    std::optional<CachedScore> cached;
    int digit = 0;  // in reading direction
  };

  int digit(const std::string& base) const;

  Strand strand_;
  int ref_digit_;
  std::vector<Allele> alleles_;
  RequestPtr context_;  // null where nothing is computed
};

}  // namespace carbon
