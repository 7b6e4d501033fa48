// The requests of one variant site, and the log-likelihood ratios from their results.
//
// Work is shared without changing any result: the reference window runs once per strand, and each alternative
// allele forks from it at the first 6-mer that differs and runs only its suffix. Rows before that cancel in
// the ratio and are not read. An allele whose ratio is in the score cache runs nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/engine/request.hpp"
#include "src/vep/centered.hpp"
#include "src/vep/next_token.hpp"
#include "src/vep/score_cache.hpp"
#include "tokenizer/kmer.hpp"

namespace carbon {

/// The tokens that a window of bases is run as: what begins a sequence, and all its 6-mers except the last.
/// Row i predicts 6-mer i.
std::vector<uint32_t> window_tokens(std::string_view bases, const TokenLayout& layout);

/// The centered recipe on one strand in one phase, for alleles with one reference window.
class CenteredPlan {
 public:
  /// Makes the windows of the alleles, for which see centered_windows(), and looks up their ratios in `cache`
  /// (may be null). For the others it appends requests to `requests`.
  CenteredPlan(std::span<const NormalAllele> alleles, const ReferenceSlice& slice, int64_t window,
               Strand strand, int phase, const TokenLayout& layout, std::vector<RequestPtr>& requests,
               ScoreCache* cache = nullptr);
  /// The log-likelihood ratio of the i-th of the alleles in nats, alternative minus reference; exactly 0 for
  /// an allele equal to the reference. The requests must be finished.
  double llr(size_t i) const;
  /// The key for adding the i-th ratio to the cache; null if it need not be added.
  const ScoreKey* missing(size_t i) const;

 private:
  struct Allele {
    std::optional<CachedScore> cached;  // none: no cache, or nothing to compute
    bool differs = false;
    size_t diverge = 0;  // first 6-mer whose letters differ
    RequestPtr suffix;   // the 6-mers after that one; null if there are none or nothing is computed
  };

  CenteredWindows windows_;
  std::vector<Allele> alleles_;
  RequestPtr reference_;  // null if nothing is computed
  size_t first_row_ = 0;  // the 6-mer that the first row of its values belongs to
};

/// The next-token recipe on one strand: one row serves every SNV of a base.
class NextTokenPlan {
 public:
  /// Like CenteredPlan(). The alleles are SNVs of one base.
  NextTokenPlan(std::span<const NormalAllele> alleles, const ReferenceSlice& slice, int64_t context,
                Strand strand, const TokenLayout& layout, std::vector<RequestPtr>& requests,
                ScoreCache* cache = nullptr);
  /// ln(P_0(alt) / P_0(ref)) of the i-th of the alleles. The requests must be finished.
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
  RequestPtr context_;  // null if nothing is computed
};

}  // namespace carbon
