// A window of the reference that several alleles are compared with, and an allele that forks from it.
//
// Work is shared without changing any result: the reference window runs once, and each allele runs from the
// first 6-mer that differs. Rows before that cancel in the ratio and are not read. An allele whose ratios are
// in the score cache runs nothing.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/engine/request.hpp"
#include "src/vep/site.hpp"
#include "tokenizer/kmer.hpp"

namespace carbon {

/// A window of the reference, in reading direction.
struct SharedWindow {
  std::string bases;
  RequestPtr reference;  // null if nothing is computed
  size_t first_row = 0;  // the 6-mer that the first row of its values belongs to
};

class ForkedAllele final : public AlleleRatios {
 public:
  /// `alternative` has the window's bases from 6-mer `first` on with the alternative. For tag t, up to
  /// `ends[t]` of them are compared; these ascend, and the last one is all of them.
  ForkedAllele(std::shared_ptr<const SharedWindow> window, size_t first, std::string alternative,
               std::vector<size_t> ends);

  double llr(size_t tag) const override;
  const ScoreKey* missing(size_t tag) const override;

  /// Whether the alleles differ anywhere in the compared bases. If not, there is nothing to compute.
  bool differs() const { return differs_; }
  size_t tags() const { return ends_.size(); }
  /// The bases that are compared for a tag, with the reference and with the alternative, and those before
  /// them.
  std::string_view reference_bases(size_t tag) const { return reference().substr(0, ends_[tag]); }
  std::string_view alternative_bases(size_t tag) const {
    return std::string_view(alternative_).substr(0, ends_[tag]);
  }
  std::string_view bases_before() const {
    return std::string_view(window_->bases).substr(0, first_ * kKmerLength);
  }
  /// What the score cache has for a tag.
  void set_cached(size_t tag, CachedScore cached) { cached_[tag] = std::move(cached); }

 private:
  friend void request_window(SharedWindow& window, std::span<const struct WindowUser> users,
                             const TokenLayout& layout);
  std::string_view reference() const { return std::string_view(window_->bases).substr(first_ * kKmerLength); }
  bool computes() const;
  RequestPtr make_suffix(const RequestPtr& reference, const TokenLayout& layout);

  std::shared_ptr<const SharedWindow> window_;
  size_t first_, diverge_ = 0;  // 6-mers of the window: where the comparison begins; where the alleles differ
  bool differs_ = false;
  std::string alternative_;
  std::vector<size_t> ends_;
  std::vector<std::optional<CachedScore>> cached_;  // one per tag; none: no cache, or nothing to compute
  RequestPtr suffix_;
};

/// An allele that is compared in a window, and the requests of its site.
struct WindowUser {
  ForkedAllele* allele;
  std::vector<RequestPtr>* requests;
};
/// Adds the request for the window, as far as those users need that have something to compute, to the first
/// of these, and to each of them that for its own 6-mers.
void request_window(SharedWindow& window, std::span<const WindowUser> users, const TokenLayout& layout);

}  // namespace carbon
