#include "src/vep/recipes/recipes.hpp"

#include <algorithm>
#include <map>

#include "src/base/error.hpp"
#include "src/sampling/base_scores.hpp"
#include "tokenizer/kmer.hpp"

namespace carbon {

std::string next_token_context(int64_t pos, const ReferenceSlice& slice, int64_t context, Strand strand,
                               size_t bases) {
  const std::string_view range =
      slice.get(next_token_begin(pos, context, strand), next_token_end(pos, context, strand));
  std::string read = strand == Strand::forward ? std::string(range) : reverse_complement(range);
  const size_t leading = std::min(read.find_first_not_of('N'), read.size());
  return read.substr(leading + (read.size() - leading) % bases);
}

namespace {

// Longer structural alleles are not looked at for an N, which would be the reason given.
constexpr int64_t kSpelledOut = 4096;

int digit_of(const std::string& base, Strand strand) {
  return strand == Strand::forward ? base_digit(base[0]) : complement_digit(base_digit(base[0]));
}

// ln(P_0(alt) / P_0(ref)) of an SNV on one strand. One row serves all of a base.
class NextTokenRatio final : public AlleleRatios {
 public:
  NextTokenRatio(int alt, int ref, RequestPtr context, std::optional<CachedScore> cached)
      : alt_(alt), ref_(ref), context_(std::move(context)), cached_(std::move(cached)) {}

  double value(size_t) const override {
    if (known()) return *cached_->llr;
    const double* const logs = base_logs(context_->values(), 0);
    return logs[alt_] - logs[ref_];
  }
  const ScoreKey* missing(size_t) const override { return cached_ && !known() ? &cached_->key : nullptr; }

  bool known() const { return cached_ && cached_->llr; }

 private:
  int alt_, ref_;  // letters in reading direction
  RequestPtr context_;
  std::optional<CachedScore> cached_;
};

class NextToken final : public Recipe {
 public:
  NextToken(int64_t context, std::vector<Strand> strands) : context_(context), strands_(std::move(strands)) {}

  const char* name() const override { return kNextToken.name; }
  Settings sizes() const override { return {{"context", std::to_string(context_)}}; }
  std::vector<Strand> strands() const override { return strands_; }
  std::vector<InfoTag> tags(const std::string& prefix) const override {
    return {{prefix + "_" + kNextToken.tag, "A", "Float",
             "Carbon ln(P(ALT)/P(REF)) of the base after the " + std::to_string(context_) + " bp context"}};
  }
  AlleleLimits limits() const override { return {1, AlleleFlag::multibase, kSpelledOut}; }
  BaseRange reach(const NormalAllele& form, const ContigReference&) const override {
    BaseRange all = kNoBases;
    for (const Strand strand : strands_) all = all.with(range_of(form.pos, strand));
    return all;
  }
  void plan(std::span<const PlacedSite> sites, size_t own, const Planning& with) const override {
    for (const auto& [site, reference] : sites) {
      std::map<int64_t, std::vector<ScoredAllele*>> places;
      for (ScoredAllele& allele : site->recipes[own].alleles) {
        allele.strands.resize(strands_.size());
        places[allele.form.pos].push_back(&allele);
      }
      for (size_t s = 0; s < strands_.size(); ++s)
        for (const auto& [pos, members] : places)
          plan_base(members, reference.slice(range_of(pos, strands_[s])), s, with, site->requests);
    }
  }

 private:
  BaseRange range_of(int64_t pos, Strand strand) const {
    return {next_token_begin(pos, context_, strand), next_token_end(pos, context_, strand)};
  }

  void plan_base(const std::vector<ScoredAllele*>& members, const ReferenceSlice& slice, size_t s,
                 const Planning& with, std::vector<RequestPtr>& requests) const {
    const Strand strand = strands_[s];
    const std::string bases =
        next_token_context(members.front()->form.pos, slice, context_, strand, with.layout.bases());
    const auto context = std::make_shared<Request>();
    bool all_known = true;
    for (ScoredAllele* allele : members) {
      const NormalAllele& snv = allele->form;
      std::optional<CachedScore> cached;
      if (with.cache) cached = with.cache->look_up(name(), strand, {bases, snv.ref, snv.alt});
      auto ratio = std::make_unique<NextTokenRatio>(digit_of(snv.alt, strand), digit_of(snv.ref, strand),
                                                    context, std::move(cached));
      all_known &= ratio->known();
      allele->strands[s].push_back(std::move(ratio));
    }
    if (all_known) return;
    context->tokens = sequence_tokens(bases, with.layout);
    context->head = HeadKind::marginals;
    context->want_begin = context->tokens.size() - 1;
    requests.push_back(context);
  }

  int64_t context_;
  std::vector<Strand> strands_;
};

}  // namespace

std::unique_ptr<const Recipe> make_next_token(const RecipeSettings& settings, const ModelConfig& config) {
  const int64_t context =
      settings.context.value_or(default_bases(config.layout.family->next_token_context, config));
  if (context < 0)
    throw SettingError("vep", "context",
                       "a context of " + std::to_string(context) + " bp cannot be used; expected 0 or more",
                       {"set it with {--context}"});
  check_fits("context", context, config);
  return std::make_unique<NextToken>(context, strands_of(settings.strand, StrandChoice::forward));
}

}  // namespace carbon
