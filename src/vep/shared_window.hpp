// A window of the reference that several alleles are compared with, and an allele that forks from it.
//
// Work is shared without changing any result: the reference window runs once, and each allele runs from the
// first token that differs. Rows before that cancel in the ratio and are not read. An allele whose ratios are
// in the score cache runs nothing. What several heads read from the same rows are requests for the same
// tokens, which run once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/engine/request.hpp"
#include "src/vep/measures.hpp"
#include "src/vep/site.hpp"
#include "tokenizer/kmer.hpp"

namespace carbon {

/// A window of the reference, in reading direction.
struct SharedWindow {
  /// `bases_of_token` are those of a token of the model. A token is a k-mer, and named so here.
  explicit SharedWindow(size_t bases_of_token) : k(bases_of_token) {}

  size_t k;
  std::string bases;
  // Null where nothing of the kind is computed.
  RequestPtr marginals, tokens, means, states;
  size_t first_row = 0, first_token = 0;  // the k-mers that the first rows of the first two are for
  size_t first_state = 0;                 // the k-mer whose state is the first of `states`
};

/// How an allele is compared with the window that it forks from.
struct AlleleComparison {
  size_t first = 0;         // the k-mer of the window from which on the allele may differ
  std::string alternative;  // the window's bases from there on with the alternative
  /// For tag t of the level of bases, up to `ends[t]` of the alternative are compared. They ascend; the
  /// alternative is all that is needed for the last one.
  std::vector<size_t> ends;
  /// The tag after those is of the level of tokens: whole k-mers of both windows from their beginnings.
  bool tokens = false;
  /// The tags after that: l2 and jsd, of the rows of `horizon` k-mers from the first on that the model reads
  /// differently. They have no value where the alternative has another length than the reference.
  std::vector<Measure> measures = {};
  size_t horizon = 0;
  bool same_length = true;
  bool means = false;    // the mean hidden states of both windows are wanted
  size_t pool = 0;       // the k-mers of a mean from the first that the model reads differently; 0: all
  bool is_other = true;  // false for an ALT that is REF
};

class ForkedAllele final : public AlleleRatios {
 public:
  ForkedAllele(std::shared_ptr<const SharedWindow> window, AlleleComparison comparison);

  double value(size_t tag) const override;
  bool has(size_t tag) const override;
  const ScoreKey* missing(size_t tag) const override;
  std::optional<AlleleMeans> means() const override;

  /// Whether the alleles differ anywhere in what is compared for a tag. If not, there is nothing to compute.
  bool differs(size_t tag) const;
  size_t tags() const { return kinds_.size(); }
  /// The bases that are compared for a tag, with the reference and with the alternative, and those before
  /// them.
  std::string_view reference_bases(size_t tag) const { return reference().substr(0, end(tag)); }
  std::string_view alternative_bases(size_t tag) const {
    return std::string_view(allele_.alternative).substr(0, end(tag));
  }
  std::string_view bases_before() const {
    return std::string_view(window_->bases).substr(0, allele_.first * window_->k);
  }
  /// What the score cache has for a tag.
  void set_cached(size_t tag, CachedScore cached) { cached_[tag] = std::move(cached); }

 private:
  friend class WindowRequests;
  enum class Kind : uint8_t { bases, tokens, l2, jsd };  // of tags

  bool known(size_t tag) const { return cached_[tag] && cached_[tag]->llr; }
  /// Whether some tag of a kind is to be computed.
  bool computes(Kind kind) const;
  bool computes_marginals() const { return computes(Kind::bases) || computes(Kind::jsd); }
  /// Whether the windows are to be run for anything.
  bool computes() const;
  bool means_windows() const { return allele_.means && allele_.pool == 0; }
  /// The rows whose states are read.
  size_t states_read() const { return std::max(computes(Kind::l2) ? state_rows_ : 0, pool_rows_); }
  /// How many k-mers from the beginning of its window the model reads.
  size_t inputs() const;
  void find_other();
  std::string_view reference() const {
    return std::string_view(window_->bases).substr(allele_.first * window_->k);
  }
  size_t end(size_t tag) const;
  /// Whole k-mers of either window.
  size_t kmers() const { return allele_.first + allele_.alternative.size() / window_->k; }
  double base_ratio(size_t tag) const;
  double token_ratio() const;
  double distance() const;
  std::optional<AlleleMeans> means_from_other() const;
  double divergence() const;
  /// The bases that jsd compares.
  std::string_view predicted_bases() const;

  std::shared_ptr<const SharedWindow> window_;
  AlleleComparison allele_;
  size_t diverge_ = 0;  // the k-mer of the window where the alleles differ
  bool differs_ = false, tokens_differ_ = false;
  std::vector<Kind> kinds_;
  size_t other_ = 0;                                // the first k-mer of the window that is read differently
  size_t state_rows_ = 0, base_rows_ = 0;           // how many rows from there on l2 and jsd compare; 0: none
  size_t pool_rows_ = 0;                            // of a mean from there on; 0: none
  std::vector<std::optional<CachedScore>> cached_;  // one per tag; none: no cache, or nothing to compute
  RequestPtr marginals_, tokens_, means_, states_;  // of the alternative's own k-mers, as in SharedWindow
};

/// An allele that is compared in a window, and the requests of its site.
struct WindowUser {
  ForkedAllele* allele;
  std::vector<RequestPtr>* requests;
};
/// Adds the requests for the window, as far as those users need that have something to compute, to the first
/// of these, and to each of them those for its own k-mers.
void request_window(SharedWindow& window, std::span<const WindowUser> users, const TokenLayout& layout);

}  // namespace carbon
