#include "src/vep/plan.hpp"

#include <algorithm>

#include "src/marginals/base_scores.hpp"

namespace carbon {
namespace {

const ScoreKey* key_if_missing(const std::optional<CachedScore>& cached) {
  return cached && !cached->llr ? &cached->key : nullptr;
}

}  // namespace

std::vector<uint32_t> window_tokens(std::string_view bases, const TokenLayout& layout) {
  const std::vector<uint32_t> kmers = encode_kmers(bases, layout);
  std::vector<uint32_t> tokens = layout.start();
  // A last piece of fewer than six bases is never an input, so it makes no difference what it would be.
  tokens.insert(tokens.end(), kmers.begin(), kmers.end() - 1);
  return tokens;
}

CenteredPlan::CenteredPlan(std::span<const NormalAllele> alleles, const ReferenceSlice& slice, int64_t window,
                           Strand strand, int phase, const TokenLayout& layout,
                           std::vector<RequestPtr>& requests, ScoreCache* cache)
    : windows_(centered_windows(alleles, slice, window, strand, phase)) {
  const auto reference = std::make_shared<Request>();
  std::vector<RequestPtr> suffixes;
  bool any = false;
  for (const std::string& alternative : windows_.alternatives) {
    Allele& allele = alleles_.emplace_back();
    const auto [a, r] = std::mismatch(alternative.begin(), alternative.end(), windows_.reference.begin());
    if (a == alternative.end()) continue;
    allele.differs = true;
    if (cache)
      allele.cached =
          cache->look_up("centered", strand,
                         {std::string_view(windows_.reference).substr(0, alternative.size()), alternative});
    if (allele.cached && allele.cached->llr) continue;
    allele.diverge = static_cast<size_t>(a - alternative.begin()) / kKmerLength;
    first_row_ = any ? std::min(first_row_, allele.diverge) : allele.diverge;
    any = true;
    const std::vector<uint32_t> kmers = encode_kmers(alternative, layout);
    // Reference and allele have the inputs up to 6-mer diverge - 1 in common, and so also row `diverge`.
    if (allele.diverge + 1 >= kmers.size()) continue;
    allele.suffix = std::make_shared<Request>();
    allele.suffix->parent = reference;
    allele.suffix->shared = layout.lead() + allele.diverge + 1;
    allele.suffix->tokens.assign(kmers.begin() + static_cast<ptrdiff_t>(allele.diverge), kmers.end() - 1);
    allele.suffix->head = HeadKind::marginals;
    ++reference->forks;
    suffixes.push_back(allele.suffix);
  }
  if (!any) return;
  reference->tokens = window_tokens(windows_.reference, layout);
  reference->head = HeadKind::marginals;
  reference->want_begin = layout.lead() + first_row_;
  reference_ = reference;
  requests.push_back(reference);
  requests.insert(requests.end(), suffixes.begin(), suffixes.end());
}

double CenteredPlan::llr(size_t i) const {
  const Allele& allele = alleles_[i];
  if (!allele.differs) return 0;
  if (allele.cached && allele.cached->llr) return *allele.cached->llr;
  const std::string& alternative = windows_.alternatives[i];
  const size_t end = alternative.size(), shared_end = std::min(end, (allele.diverge + 1) * kKmerLength);
  const auto from_diverge = reference_->values().subspan((allele.diverge - first_row_) * ops::kMarginals);
  std::vector<double> ref_logps, alt_logps;
  append_base_logprobs(windows_.reference, allele.diverge, end, from_diverge, ref_logps);
  append_base_logprobs(alternative, allele.diverge, shared_end, from_diverge, alt_logps);
  if (allele.suffix)
    append_base_logprobs(alternative, allele.diverge + 1, end, allele.suffix->values(), alt_logps);
  return log_likelihood_ratio(alt_logps, ref_logps);
}

const ScoreKey* CenteredPlan::missing(size_t i) const {
  return key_if_missing(alleles_[i].cached);
}

NextTokenPlan::NextTokenPlan(std::span<const NormalAllele> alleles, const ReferenceSlice& slice,
                             int64_t context, Strand strand, const TokenLayout& layout,
                             std::vector<RequestPtr>& requests, ScoreCache* cache)
    : strand_(strand), ref_digit_(digit(alleles.front().ref)) {
  const std::string bases = next_token_context(alleles.front().pos, slice, context, strand);
  bool all_known = true;
  for (const NormalAllele& snv : alleles) {
    Allele& allele = alleles_.emplace_back();
    allele.digit = digit(snv.alt);
    if (cache) allele.cached = cache->look_up("next-token", strand, {bases, snv.ref, snv.alt});
    all_known &= allele.cached && allele.cached->llr;
  }
  if (all_known) return;
  context_ = std::make_shared<Request>();
  context_->tokens = layout.start();
  const std::vector<uint32_t> kmers = encode_kmers(bases, layout);
  context_->tokens.insert(context_->tokens.end(), kmers.begin(), kmers.end());
  context_->head = HeadKind::marginals;
  context_->want_begin = context_->tokens.size() - 1;
  requests.push_back(context_);
}

int NextTokenPlan::digit(const std::string& base) const {
  return strand_ == Strand::forward ? base_digit(base[0]) : complement_digit(base_digit(base[0]));
}

double NextTokenPlan::llr(size_t i) const {
  const Allele& allele = alleles_[i];
  if (allele.cached && allele.cached->llr) return *allele.cached->llr;
  const double* const logs = base_logs(context_->values(), 0);
  return logs[allele.digit] - logs[ref_digit_];
}

const ScoreKey* NextTokenPlan::missing(size_t i) const {
  return key_if_missing(alleles_[i].cached);
}

}  // namespace carbon
