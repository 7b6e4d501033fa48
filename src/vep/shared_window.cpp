#include "src/vep/shared_window.hpp"

#include <algorithm>
#include <limits>

#include "src/marginals/base_scores.hpp"

namespace carbon {

ForkedAllele::ForkedAllele(std::shared_ptr<const SharedWindow> window, size_t first, std::string alternative,
                           std::vector<size_t> ends)
    : window_(std::move(window)),
      first_(first),
      alternative_(std::move(alternative)),
      ends_(std::move(ends)),
      cached_(ends_.size()) {
  const std::string_view ours = alternative_, theirs = reference();
  const auto differ = std::mismatch(ours.begin(), ours.end(), theirs.begin()).first;
  differs_ = differ != ours.end();
  diverge_ = first_ + static_cast<size_t>(differ - ours.begin()) / kKmerLength;
}

bool ForkedAllele::computes() const {
  const auto known = [](const std::optional<CachedScore>& cached) { return cached && cached->llr; };
  return differs_ && !std::all_of(cached_.begin(), cached_.end(), known);
}

// The request for the 6-mers of the alternative after the first that differs; null if there are none.
RequestPtr ForkedAllele::make_suffix(const RequestPtr& reference, const TokenLayout& layout) {
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

double ForkedAllele::llr(size_t tag) const {
  if (!differs_) return 0;
  if (cached_[tag] && cached_[tag]->llr) return *cached_[tag]->llr;
  const size_t end = ends_[tag], diverge = diverge_ - first_;
  const size_t shared_end = std::min(end, (diverge + 1) * kKmerLength);
  const auto from_diverge =
      window_->reference->values().subspan((diverge_ - window_->first_row) * ops::kMarginals);
  std::vector<double> ref_logps, alt_logps;
  append_base_logprobs(reference(), diverge, end, from_diverge, ref_logps);
  append_base_logprobs(alternative_, diverge, shared_end, from_diverge, alt_logps);
  if (suffix_) append_base_logprobs(alternative_, diverge + 1, end, suffix_->values(), alt_logps);
  return log_likelihood_ratio(alt_logps, ref_logps);
}

const ScoreKey* ForkedAllele::missing(size_t tag) const {
  const std::optional<CachedScore>& cached = cached_[tag];
  return cached && !cached->llr ? &cached->key : nullptr;
}

void request_window(SharedWindow& window, std::span<const WindowUser> users, const TokenLayout& layout) {
  const auto reference = std::make_shared<Request>();
  size_t end = 0, first_row = std::numeric_limits<size_t>::max();
  for (const auto& [allele, requests] : users) {
    if (!allele->computes()) continue;
    if (end == 0) requests->push_back(reference);
    end = std::max(end, allele->first_ * kKmerLength + allele->alternative_.size());
    first_row = std::min(first_row, allele->diverge_);
    if (const RequestPtr suffix = allele->make_suffix(reference, layout)) requests->push_back(suffix);
  }
  if (end == 0) return;
  reference->tokens = window_tokens(std::string_view(window.bases).substr(0, end), layout);
  reference->head = HeadKind::marginals;
  reference->want_begin = layout.lead() + first_row;
  window.reference = reference;
  window.first_row = first_row;
}

}  // namespace carbon
