// One variant site as jobs for the engine, and their results as log-likelihood ratios.
//
// Exact work sharing: the reference window runs once a strand; each alternative allele forks at the 6-mer
// where it first differs and runs only its suffix; rows before that cancel and are never read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "src/pipeline/scorer.hpp"
#include "src/recipe/centered.hpp"
#include "src/recipe/next_token.hpp"
#include "tokenizer/kmer.hpp"

namespace carbon {

/// The centered recipe on one strand of one site.
class CenteredPlan {
 public:
  /// Cuts the windows of `alts` (scorable alleles) and appends the jobs they need to `jobs`.
  CenteredPlan(int64_t pos, const std::string& ref, const std::vector<std::string>& alts,
               const ReferenceSlice& slice, int64_t window, Strand strand, const TokenLayout& layout,
               std::vector<ScoreJob>& jobs);
  /// Nats, alt minus ref, of the i-th of `alts`; exactly 0 for an allele equal to the reference.
  double llr(size_t i, const std::vector<ScoreJob>& jobs) const;

 private:
  struct Allele {
    bool differs = false;
    size_t diverge = 0;  // first 6-mer whose letters differ
    bool has_suffix = false;
    size_t suffix = 0;  // index into the job's suffixes
  };

  CenteredWindows windows_;
  std::vector<Allele> alleles_;
  size_t job_ = 0, first_row_ = 0;  // the reference's job; the 6-mer its first result row speaks of
};

/// The next-token recipe on one strand of one site: one row serves every SNV allele.
class NextTokenPlan {
 public:
  NextTokenPlan(int64_t pos, const ReferenceSlice& slice, int64_t context, Strand strand,
                const TokenLayout& layout, std::vector<ScoreJob>& jobs);
  /// ln(P_0(alt) / P_0(ref)); forward-strand letters.
  double llr(char ref, char alt, const std::vector<ScoreJob>& jobs) const;

 private:
  Strand strand_;
  size_t job_;
};

}  // namespace carbon
