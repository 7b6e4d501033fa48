#include "src/vep/anchored_plan.hpp"

#include <algorithm>

#include "src/marginals/base_scores.hpp"

namespace carbon {

AnchoredPlan::AnchoredPlan(std::shared_ptr<const AnchoredWindow> window, size_t first,
                           std::string alternative, std::vector<size_t> ends, Strand strand,
                           ScoreCache* cache)
    : window_(std::move(window)),
      first_(first),
      alternative_(std::move(alternative)),
      ends_(std::move(ends)),
      cached_(ends_.size()) {
  const std::string_view ours = alternative_, theirs = reference();
  const auto differ = std::mismatch(ours.begin(), ours.end(), theirs.begin()).first;
  if (differ == ours.end()) return;
  differs_ = true;
  diverge_ = first_ + static_cast<size_t>(differ - ours.begin()) / kKmerLength;
  if (!cache) return;
  const std::string_view before = std::string_view(window_->bases).substr(0, first_ * kKmerLength);
  for (size_t h = 0; h < ends_.size(); ++h)
    cached_[h] =
        cache->look_up("anchored", strand, {before, theirs.substr(0, ends_[h]), ours.substr(0, ends_[h])});
}

bool AnchoredPlan::computes() const {
  const auto known = [](const std::optional<CachedScore>& cached) { return cached && cached->llr; };
  return differs_ && !std::all_of(cached_.begin(), cached_.end(), known);
}

RequestPtr AnchoredPlan::make_suffix(const RequestPtr& reference, const TokenLayout& layout) {
  const std::vector<uint32_t> kmers =
      encode_kmers(std::string_view(alternative_).substr((diverge_ - first_) * kKmerLength), layout);
  // Reference and allele have the inputs up to 6-mer diverge - 1 in common, and so also row `diverge`. The
  // last 6-mer is only predicted.
  if (kmers.size() < 2) return nullptr;
  suffix_ = std::make_shared<Request>();
  suffix_->parent = reference;
  suffix_->shared = layout.lead() + diverge_ + 1;
  suffix_->tokens.assign(kmers.begin(), kmers.end() - 1);
  suffix_->head = HeadKind::marginals;
  ++reference->forks;
  return suffix_;
}

double AnchoredPlan::llr(size_t horizon) const {
  if (!differs_) return 0;
  if (cached_[horizon] && cached_[horizon]->llr) return *cached_[horizon]->llr;
  const size_t end = ends_[horizon], diverge = diverge_ - first_;
  const size_t shared_end = std::min(end, (diverge + 1) * kKmerLength);
  const auto from_diverge =
      window_->reference->values().subspan((diverge_ - window_->first_row) * ops::kMarginals);
  std::vector<double> ref_logps, alt_logps;
  append_base_logprobs(reference(), diverge, end, from_diverge, ref_logps);
  append_base_logprobs(alternative_, diverge, shared_end, from_diverge, alt_logps);
  if (suffix_) append_base_logprobs(alternative_, diverge + 1, end, suffix_->values(), alt_logps);
  return log_likelihood_ratio(alt_logps, ref_logps);
}

const ScoreKey* AnchoredPlan::missing(size_t horizon) const {
  const std::optional<CachedScore>& cached = cached_[horizon];
  return cached && !cached->llr ? &cached->key : nullptr;
}

}  // namespace carbon
