#include "src/vep/shared_window.hpp"

#include <algorithm>
#include <set>

#include "src/sampling/base_scores.hpp"

namespace carbon {
namespace {

std::string_view whole_kmers(std::string_view bases, size_t k) {
  return bases.substr(0, bases.size() / k * k);
}

// The values of the k-mers from `begin` on that have only letters A, C, G and T; rows[0] is that of k-mer
// `begin`.
std::vector<double> kmer_values(std::string_view bases, size_t k, size_t begin,
                                std::span<const double> rows) {
  std::vector<double> values;
  for (size_t at = begin * k, row = 0; at < bases.size(); at += k, ++row)
    if (kmer_index(bases.substr(at, k), k) >= 0) values.push_back(rows[row]);
  return values;
}

// The mean over the first `rows` rows of a request for means, which has it: after so many, or at its end.
std::span<const float> mean_after(const Request& request, size_t rows) {
  const size_t width = request.states.size() / (request.targets.size() + 1);
  const auto place = std::find(request.targets.begin(), request.targets.end(), rows);
  return std::span(request.states)
      .subspan(static_cast<size_t>(place - request.targets.begin()) * width, width);
}

}  // namespace

ForkedAllele::ForkedAllele(std::shared_ptr<const SharedWindow> window, AlleleComparison comparison)
    : window_(std::move(window)), allele_(std::move(comparison)), kinds_(allele_.ends.size(), Kind::bases) {
  if (allele_.tokens) kinds_.push_back(Kind::tokens);
  for (const Measure measure : allele_.measures)
    kinds_.push_back(measure == Measure::l2 ? Kind::l2 : Kind::jsd);
  cached_.resize(tags());
  const std::string_view ours = allele_.alternative, theirs = reference();
  const auto differ = std::mismatch(ours.begin(), ours.end(), theirs.begin()).first;
  differs_ = differ != ours.end();
  diverge_ = allele_.first + static_cast<size_t>(differ - ours.begin()) / window_->k;
  tokens_differ_ = diverge_ < kmers();
  if (!allele_.measures.empty() || allele_.pool > 0) find_other();
}

// Finds the rows that l2 and jsd compare, and those of a mean that begins where the alleles differ.
void ForkedAllele::find_other() {
  const size_t k = window_->k, bases = allele_.alternative.size();
  const std::optional<size_t> other =
      first_other_token(allele_.alternative, reference(), k, diverge_ - allele_.first);
  if (!other) return;
  other_ = allele_.first + *other;
  if (allele_.means) pool_rows_ = std::min(allele_.pool, bases / k - *other);
  if (allele_.measures.empty() || !allele_.same_length) return;
  state_rows_ = std::min(allele_.horizon, bases / k - *other);
  // The row of the last k-mer, whole or not, predicts nothing in the window.
  base_rows_ = std::min(allele_.horizon, (bases + k - 1) / k - 1 - *other);
  const std::string_view predicted = predicted_bases();
  if (std::none_of(predicted.begin(), predicted.end(), [](char base) { return base_digit(base) >= 0; }))
    base_rows_ = 0;
}

std::string_view ForkedAllele::predicted_bases() const {
  const size_t k = window_->k;
  return std::string_view(allele_.alternative).substr((other_ + 1 - allele_.first) * k, base_rows_ * k);
}

size_t ForkedAllele::end(size_t tag) const {
  if (kinds_[tag] == Kind::bases) return allele_.ends[tag];
  return kinds_[tag] == Kind::tokens ? whole_kmers(allele_.alternative, window_->k).size()
                                     : allele_.alternative.size();
}

bool ForkedAllele::differs(size_t tag) const {
  switch (kinds_[tag]) {
    case Kind::bases:
      return differs_;
    case Kind::tokens:
      return tokens_differ_;
    case Kind::l2:
      return state_rows_ > 0;
    case Kind::jsd:
      break;
  }
  return base_rows_ > 0;
}

bool ForkedAllele::computes(Kind kind) const {
  for (size_t tag = 0; tag < tags(); ++tag)
    if (kinds_[tag] == kind && differs(tag) && !known(tag)) return true;
  return false;
}

bool ForkedAllele::computes() const {
  return computes_marginals() || computes(Kind::tokens) || states_read() > 0 || means_windows();
}

size_t ForkedAllele::inputs() const {
  const size_t k = window_->k;
  size_t inputs = 0;
  // Of the last k-mer, whole or not, only the bases are predicted.
  if (computes(Kind::bases) || computes(Kind::tokens))
    inputs = allele_.first + (allele_.alternative.size() + k - 1) / k - 1;
  if (means_windows()) inputs = std::max(inputs, kmers());
  if (states_read() > 0) inputs = std::max(inputs, other_ + states_read());
  if (computes(Kind::jsd)) inputs = std::max(inputs, other_ + base_rows_);
  return inputs;
}

bool ForkedAllele::has(size_t tag) const {
  return kinds_[tag] == Kind::bases || differs(tag) || !allele_.is_other;
}

double ForkedAllele::value(size_t tag) const {
  if (!differs(tag)) return 0;
  if (known(tag)) return *cached_[tag]->llr;
  switch (kinds_[tag]) {
    case Kind::bases:
      return base_ratio(tag);
    case Kind::tokens:
      return token_ratio();
    case Kind::l2:
      return distance();
    case Kind::jsd:
      break;
  }
  return divergence();
}

double ForkedAllele::distance() const {
  const size_t width = states_->states.size() / states_read();
  const auto reference = std::span(window_->states->states)
                             .subspan((other_ - window_->first_state) * width, state_rows_ * width);
  return state_distance(std::span(states_->states).first(state_rows_ * width), reference, width);
}

double ForkedAllele::divergence() const {
  const size_t row = window_->k * ops::kLetters;
  return carbon::divergence(marginals_->values().subspan((other_ - diverge_) * row),
                            window_->marginals->values().subspan((other_ + 1 - window_->first_row) * row),
                            predicted_bases());
}

double ForkedAllele::base_ratio(size_t tag) const {
  const size_t k = window_->k, end = allele_.ends[tag], begin = (diverge_ - allele_.first) * k;
  const size_t shared_end = std::min(end, begin + k);
  const auto from_diverge =
      window_->marginals->values().subspan((diverge_ - window_->first_row) * k * ops::kLetters);
  std::vector<double> ref_logps, alt_logps;
  append_base_logprobs(reference(), begin, end, from_diverge, ref_logps);
  append_base_logprobs(allele_.alternative, begin, shared_end, from_diverge, alt_logps);
  if (marginals_) append_base_logprobs(allele_.alternative, begin + k, end, marginals_->values(), alt_logps);
  return log_likelihood_ratio(alt_logps, ref_logps);
}

double ForkedAllele::token_ratio() const {
  const auto tag =
      static_cast<size_t>(std::find(kinds_.begin(), kinds_.end(), Kind::tokens) - kinds_.begin());
  const size_t diverge = diverge_ - allele_.first;
  const std::span<const double> from_diverge =
      window_->tokens->values().subspan(diverge_ - window_->first_token);
  return log_likelihood_ratio(kmer_values(alternative_bases(tag), window_->k, diverge, tokens_->values()),
                              kmer_values(reference_bases(tag), window_->k, diverge, from_diverge));
}

const ScoreKey* ForkedAllele::missing(size_t tag) const {
  const std::optional<CachedScore>& cached = cached_[tag];
  return cached && !cached->llr ? &cached->key : nullptr;
}

std::optional<AlleleMeans> ForkedAllele::means_from_other() const {
  if (pool_rows_ == 0) return std::nullopt;
  const size_t width = states_->states.size() / states_read();
  const auto mean = [&](const Request& request, size_t first) {
    return mean_state(std::span(request.states).subspan(first * width, pool_rows_ * width), width);
  };
  return AlleleMeans{mean(*window_->states, other_ - window_->first_state), mean(*states_, 0)};
}

std::optional<AlleleMeans> ForkedAllele::means() const {
  if (allele_.pool > 0) return means_from_other();
  const size_t all = kmers(), alike = std::min(diverge_, all);
  if (!window_->means || all == 0) return std::nullopt;
  const auto reference = mean_after(*window_->means, all);
  AlleleMeans means{{reference.begin(), reference.end()}, {reference.begin(), reference.end()}};
  if (!means_) return means;
  const auto own = mean_after(*means_, 0);
  means.alt.assign(own.begin(), own.end());
  if (alike == 0) return means;
  const auto shared = mean_after(*window_->means, alike);
  for (size_t i = 0; i < own.size(); ++i)
    means.alt[i] = static_cast<float>(
        (static_cast<double>(alike) * shared[i] + static_cast<double>(all - alike) * own[i]) /
        static_cast<double>(all));
  return means;
}

/// Makes the requests of a window.
class WindowRequests {
 public:
  WindowRequests(SharedWindow& window, std::span<const WindowUser> users, const TokenLayout& layout)
      : window_(window), users_(users), layout_(layout) {}

  void make() {
    for (const auto& [allele, requests] : users_) note(*allele, *requests);
    if (!first_) return;
    const std::string_view bases = std::string_view(window_.bases).substr(0, end_);
    inputs_ = sequence_tokens(bases.substr(0, kmers_ * window_.k), layout_);
    if (bases_) window_.marginals = reference(HeadKind::marginals, layout_.lead() + window_.first_row);
    if (tokens_) {
      window_.tokens = reference(HeadKind::token_logprobs, layout_.lead() + window_.first_token);
      window_.tokens->targets = targets(encode_kmers(whole_kmers(bases, window_.k), layout_),
                                        window_.first_token, inputs_.size() - layout_.lead());
    }
    if (means_) {
      window_.means = reference(HeadKind::mean_hidden, layout_.lead() + 1);
      places_.erase(static_cast<uint32_t>(inputs_.size() - window_.means->want_begin));  // all of them
      window_.means->targets.assign(places_.begin(), places_.end());
    }
    if (states_end_ > 0) {
      window_.states = reference(HeadKind::hidden, layout_.lead() + 1 + window_.first_state);
      window_.states->want_end = layout_.lead() + 1 + states_end_;
    }
    for (const auto& [allele, requests] : users_) fork(*allele, *requests);
  }

 private:
  // What an allele needs of the reference window.
  void note(const ForkedAllele& allele, std::vector<RequestPtr>& requests) {
    const bool bases = allele.computes_marginals(), tokens = allele.computes(ForkedAllele::Kind::tokens),
               means = allele.means_windows() && allele.kmers() > 0, states = allele.states_read() > 0;
    if (!bases && !tokens && !means && !states) return;
    if (!first_) first_ = &requests;
    end_ = std::max(end_, allele.allele_.first * window_.k + allele.allele_.alternative.size());
    kmers_ = std::max(kmers_, allele.inputs());
    if (bases) window_.first_row = std::min(bases_ ? window_.first_row : allele.diverge_, allele.diverge_);
    if (tokens)
      window_.first_token = std::min(tokens_ ? window_.first_token : allele.diverge_, allele.diverge_);
    if (means) places_.insert(static_cast<uint32_t>(allele.kmers()));
    if (means && allele.diverge_ > 0 && allele.diverge_ < allele.kmers())
      places_.insert(static_cast<uint32_t>(allele.diverge_));
    if (states) {
      window_.first_state = states_end_ > 0 ? std::min(window_.first_state, allele.other_) : allele.other_;
      states_end_ = std::max(states_end_, allele.other_ + allele.states_read());
    }
    bases_ |= bases;
    tokens_ |= tokens;
    means_ |= means;
  }

  RequestPtr reference(HeadKind head, size_t want_begin) {
    const auto request = std::make_shared<Request>();
    request->tokens = inputs_;
    request->head = head;
    request->want_begin = want_begin;
    first_->push_back(request);
    if (!parent_) parent_ = request;
    return request;
  }

  // Row i predicts k-mer `first` + i; a row after the last whole one predicts nothing that is read.
  std::vector<uint32_t> targets(const std::vector<uint32_t>& kmers, size_t first, size_t end) const {
    std::vector<uint32_t> targets;
    for (size_t i = first; i < end; ++i) targets.push_back(i < kmers.size() ? kmers[i] : layout_.kmer_id(0));
    return targets;
  }

  // Reference and allele have the inputs up to k-mer diverge - 1 in common, and so also row `diverge`. A
  // level of tokens reads that row for the k-mer of the allele, so the allele computes it again.
  void fork(ForkedAllele& allele, std::vector<RequestPtr>& requests) const {
    if (!allele.differs_ || !allele.computes()) return;
    const bool tokens = allele.computes(ForkedAllele::Kind::tokens);
    const std::string_view own = std::string_view(allele.allele_.alternative)
                                     .substr((allele.diverge_ - allele.allele_.first) * window_.k);
    const std::vector<uint32_t> kmers = encode_kmers(own, layout_);
    const size_t whole = own.size() / window_.k, again = tokens ? 1 : 0;
    const size_t inputs = allele.inputs() - allele.diverge_;
    const size_t shared = layout_.lead() + allele.diverge_ + 1 - again;
    std::vector<uint32_t> rows(kmers.begin(), kmers.begin() + static_cast<ptrdiff_t>(inputs));
    if (tokens) rows.insert(rows.begin(), parent_->tokens[shared]);
    const auto add = [&](HeadKind head, size_t want_begin) {
      const auto request = std::make_shared<Request>();
      request->tokens = rows;
      request->head = head;
      request->want_begin = want_begin;
      if (shared > 0) {
        request->parent = parent_;
        request->shared = shared;
        ++parent_->forks;
      }
      requests.push_back(request);
      return request;
    };
    if (allele.computes_marginals() && inputs > 0) allele.marginals_ = add(HeadKind::marginals, again);
    if (tokens) {
      allele.tokens_ = add(HeadKind::token_logprobs, 0);
      allele.tokens_->targets =
          targets({kmers.begin(), kmers.begin() + static_cast<ptrdiff_t>(whole)}, 0, rows.size());
    }
    if (allele.means_windows() && whole > 0) allele.means_ = add(HeadKind::mean_hidden, again);
    if (allele.states_read() > 0) {
      allele.states_ = add(HeadKind::hidden, again + allele.other_ - allele.diverge_);
      allele.states_->want_end = allele.states_->want_begin + allele.states_read();
    }
  }

  SharedWindow& window_;
  std::span<const WindowUser> users_;
  const TokenLayout& layout_;
  bool bases_ = false, tokens_ = false, means_ = false;  // what some allele needs
  size_t end_ = 0, kmers_ = 0;                           // the bases and inputs that some allele needs
  size_t states_end_ = 0;                                // the k-mer after the last whose state is needed
  std::set<uint32_t> places_;                            // after how many rows means are needed
  std::vector<RequestPtr>* first_ = nullptr;             // the requests of the first site that needs any
  std::vector<uint32_t> inputs_;
  RequestPtr parent_;
};

void request_window(SharedWindow& window, std::span<const WindowUser> users, const TokenLayout& layout) {
  WindowRequests(window, users, layout).make();
}

}  // namespace carbon
