#include "src/vep/recipes/recipes.hpp"

#include <algorithm>
#include <map>

#include "src/base/error.hpp"
#include "src/vep/shared_window.hpp"
#include "tokenizer/kmer.hpp"

namespace carbon {
namespace {

// The reference window on the contig.
BaseRange forward_range(int64_t pos, int64_t window, int phase) {
  const int64_t start = pos - window / 2;  // before it is clipped to the contig
  return {std::max<int64_t>(start, 0) + phase, start + phase + window};
}

// `allele_end` is the base after REF. The last base of REF lies at the same distance from the window's two
// ends as the variant's first base does on the forward strand.
BaseRange reverse_range(int64_t allele_end, int64_t contig_length, int64_t window, int phase) {
  const int64_t start = allele_end - 1 + window - window / 2;
  return {start - window - phase, std::min(start, contig_length) - phase};
}

CenteredWindows forward_windows(std::span<const NormalAllele> alleles, const ReferenceSlice& slice,
                                int64_t window, int phase) {
  const int64_t pos = alleles.front().pos;
  const BaseRange range = forward_range(pos, window, phase);
  CenteredWindows out;
  out.reference = slice.get(range.begin, range.end);
  const std::string_view before = slice.get(range.begin, pos);
  for (const NormalAllele& allele : alleles) {
    const auto missing =
        static_cast<int64_t>(out.reference.size()) - static_cast<int64_t>(before.size() + allele.alt.size());
    std::string sequence(before);
    sequence += allele.alt;
    sequence += slice.get(allele.end(), allele.end() + std::max<int64_t>(missing, 0));
    sequence.resize(std::min(sequence.size(), out.reference.size()));
    out.alternatives.push_back(std::move(sequence));
  }
  return out;
}

CenteredWindows reverse_windows(std::span<const NormalAllele> alleles, const ReferenceSlice& slice,
                                int64_t window, int phase) {
  const int64_t end = alleles.front().end();
  const BaseRange range = reverse_range(end, slice.contig_length, window, phase);
  CenteredWindows out;
  out.reference = reverse_complement(slice.get(range.begin, range.end));
  const std::string right = reverse_complement(slice.get(end, range.end));
  for (const NormalAllele& allele : alleles) {
    const auto missing =
        static_cast<int64_t>(out.reference.size()) - static_cast<int64_t>(right.size() + allele.alt.size());
    std::string sequence = right + reverse_complement(allele.alt);
    sequence += reverse_complement(slice.get(allele.pos - std::max<int64_t>(missing, 0), allele.pos));
    sequence.resize(std::min(sequence.size(), out.reference.size()));
    out.alternatives.push_back(std::move(sequence));
  }
  return out;
}

}  // namespace

int64_t centered_place(const NormalAllele& allele, Strand strand) {
  return strand == Strand::forward ? allele.pos : allele.end();
}

bool centered_has_phase(const NormalAllele& allele, int64_t contig_length, int64_t window, Strand strand,
                        int phase) {
  if (phase == 0) return true;
  if (strand == Strand::forward) return forward_range(allele.pos, window, phase).begin <= allele.pos;
  return reverse_range(allele.end(), contig_length, window, phase).end >= allele.end();
}

CenteredWindows centered_windows(std::span<const NormalAllele> alleles, const ReferenceSlice& slice,
                                 int64_t window, Strand strand, int phase) {
  return strand == Strand::forward ? forward_windows(alleles, slice, window, phase)
                                   : reverse_windows(alleles, slice, window, phase);
}

namespace {

class Centered final : public Recipe {
 public:
  Centered(int64_t window, int64_t horizon, const RecipeSettings& settings, size_t token_bases)
      : window_(window),
        horizon_(horizon),
        all_phases_(static_cast<int>(token_bases)),
        phases_(settings.phases),
        bases_(settings.wants(Measure::llr) && settings.wants(ScoreLevel::base)),
        tokens_(settings.wants(Measure::llr) && settings.wants(ScoreLevel::token)),
        strands_(strands_of(settings.strand, StrandChoice::both)) {
    for (const Measure measure : settings.measures)
      if (measure != Measure::llr) measures_.push_back(measure);
  }

  const char* name() const override { return kCentered.name; }
  Settings sizes() const override {
    Settings all = sizes(bases_, tokens_);
    if (measures_.empty()) return all;
    const std::string llr = bases_ || tokens_ ? word_of(kMeasureWords, Measure::llr) + std::string("+") : "";
    add_measure(llr + joined(measures_, "+", [](Measure one) { return word_of(kMeasureWords, one); }), all);
    return all;
  }
  Settings tag_sizes(size_t tag) const override {
    if (tag < first_measure()) return sizes(!of_tokens(tag), of_tokens(tag));
    Settings all = sizes(true, false);
    add_measure(word_of(kMeasureWords, measure_of(tag)), all);
    return all;
  }
  std::vector<Strand> strands() const override { return strands_; }
  size_t tag_count() const override { return first_measure() + measures_.size(); }
  size_t first_measure() const override { return (bases_ ? 1 : 0) + (tokens_ ? 1 : 0); }
  std::vector<InfoTag> tags(const std::string& prefix) const override {
    const std::string bp = std::to_string(window_) + " bp window",
                      window = "log-likelihood ratio of the " + bp,
                      unit = "alternative minus reference, in nats",
                      rows = " at the variant and within the " + std::to_string(horizon_) +
                             " bp after it, in the " + bp + " with ALT and with REF";
    std::vector<InfoTag> tags;
    if (bases_)
      tags.push_back({prefix + "_" + kCentered.tag, "A", "Float", "Carbon " + window + ", " + unit});
    if (tokens_)
      tags.push_back({prefix + "_" + kCentered.tag + "_TOKEN", "A", "Float",
                      "Carbon " + window + ", whole 6-mers as the model predicts them, " + unit});
    for (const Measure measure : measures_)
      tags.push_back(
          measure == Measure::l2
              ? InfoTag{prefix + "_L2", "A", "Float", "Carbon distance of the hidden states" + rows}
              : InfoTag{prefix + "_JSD", "A", "Float",
                        "Carbon Jensen-Shannon divergence of the predictions" + rows + ", in nats"});
    return tags;
  }
  AlleleLimits limits() const override { return {window_ / 2, AlleleFlag::too_long, window_ / 2}; }
  BaseRange reach(const NormalAllele& form, const ContigReference&) const override {
    return {centered_begin(form.pos, window_), centered_end(form.pos, window_)};
  }
  void plan(std::span<const PlacedSite> sites, size_t own, const Planning& with) const override {
    for (const auto& [site, reference] : sites) plan(*site, site->recipes[own].alleles, reference, with);
  }

 private:
  void plan(VepSite& site, std::vector<ScoredAllele>& alleles, const ContigReference& reference,
            const Planning& with) const {
    if (alleles.empty()) return;
    BaseRange all = kNoBases;
    for (const ScoredAllele& allele : alleles) all = all.with(reach(allele.form, reference));
    const ReferenceSlice slice = reference.slice(all);
    for (ScoredAllele& allele : alleles) allele.strands.resize(strands_.size());
    for (size_t s = 0; s < strands_.size(); ++s)
      for (int phase = 0; phase < all_phases_; ++phase)
        for (const auto& [place, members] : places(alleles, slice.contig_length, strands_[s], phase))
          plan_window(members, slice, s, phase, with, site.requests);
  }

  // The alleles that are read in a phase, by the place of their window.
  std::map<int64_t, std::vector<ScoredAllele*>> places(std::vector<ScoredAllele>& alleles,
                                                       int64_t contig_length, Strand strand,
                                                       int phase) const {
    std::map<int64_t, std::vector<ScoredAllele*>> places;
    for (ScoredAllele& allele : alleles)
      if (phase < phases_of(allele.form, phases_, all_phases_) &&
          centered_has_phase(allele.form, contig_length, window_, strand, phase))
        places[centered_place(allele.form, strand)].push_back(&allele);
    return places;
  }

  void plan_window(const std::vector<ScoredAllele*>& members, const ReferenceSlice& slice, size_t s,
                   int phase, const Planning& with, std::vector<RequestPtr>& requests) const {
    std::vector<NormalAllele> forms;
    for (const ScoredAllele* allele : members) forms.push_back(allele->form);
    CenteredWindows windows = centered_windows(forms, slice, window_, strands_[s], phase);
    const auto window = std::make_shared<SharedWindow>(with.layout.bases());
    window->bases = std::move(windows.reference);
    std::vector<WindowUser> users;
    for (size_t i = 0; i < members.size(); ++i) {
      AlleleComparison comparison;
      if (bases_) comparison.ends = {windows.alternatives[i].size()};
      comparison.alternative = std::move(windows.alternatives[i]);
      comparison.tokens = tokens_;
      comparison.measures = measures_;
      comparison.horizon = static_cast<size_t>(horizon_) / with.layout.bases();
      comparison.same_length = !members[i]->form.changes_length();
      comparison.means = with.means;
      comparison.pool = with.pool;
      comparison.is_other = members[i]->form.ref != members[i]->form.alt;
      auto forked = std::make_unique<ForkedAllele>(window, std::move(comparison));
      for (size_t tag = 0; with.cache && tag < forked->tags(); ++tag)
        if (forked->differs(tag))
          forked->set_cached(
              tag, with.cache->look_up(cached_as(tag), strands_[s],
                                       {forked->reference_bases(tag), forked->alternative_bases(tag)}));
      users.push_back({forked.get(), &requests});
      members[i]->strands[s].push_back(std::move(forked));
    }
    request_window(*window, users, with.layout);
  }

  // In the order of the tags, the level of bases comes first, then that of tokens, then measures.
  bool of_tokens(size_t tag) const { return tokens_ && tag == (bases_ ? 1 : 0); }
  Measure measure_of(size_t tag) const { return measures_[tag - first_measure()]; }
  // What the score cache calls the values of a tag.
  std::string cached_as(size_t tag) const {
    if (tag >= first_measure())
      return name() + (" " + std::string(word_of(kMeasureWords, measure_of(tag)))) + " " +
             std::to_string(horizon_);
    return of_tokens(tag) ? "centered token" : name();
  }
  void add_measure(const std::string& words, Settings& sizes) const {
    sizes.emplace_back("measure", words);
    sizes.emplace_back("horizon", std::to_string(horizon_));
  }
  // The level of bases is not named: header lines, caches and journals that have no other stay as they were.
  Settings sizes(bool bases, bool tokens) const {
    Settings sizes = {{"window", std::to_string(window_)}, {"phases", word_of(kPhaseWords, phases_)}};
    const std::string token = word_of(kScoreLevelWords, ScoreLevel::token);
    if (tokens)
      sizes.emplace_back("level",
                         bases ? word_of(kScoreLevelWords, ScoreLevel::base) + ("+" + token) : token);
    return sizes;
  }

  int64_t window_, horizon_;
  int all_phases_;  // as many as a token has bases
  PhaseChoice phases_;
  bool bases_, tokens_;            // which levels are wanted
  std::vector<Measure> measures_;  // those besides llr
  std::vector<Strand> strands_;
};

// A default that is shortened is odd, as that of its family is.
int64_t default_window(const ModelConfig& config) {
  const int64_t usual = config.layout.family->centered_window, window = default_bases(usual, config);
  return window < usual && window % 2 == 0 ? window - 1 : window;
}

}  // namespace

std::unique_ptr<const Recipe> make_centered(const RecipeSettings& settings, const ModelConfig& config) {
  const TokenLayout& layout = config.layout;
  const int64_t window = settings.window.value_or(default_window(config));
  // An even window holds as many bases before an SNV as, on the other strand, after it. Letters can have a
  // middle instead.
  const bool letters = layout.bases() == 1;
  const int64_t least = letters ? 3 : 2 * static_cast<int64_t>(layout.bases());
  if (window < least || (window % 2 != 0 && !letters))
    throw SettingError("vep", "window",
                       "a window of " + std::to_string(window) + " bp cannot be used; expected " +
                           (letters ? "a" : "an even") + " number of at least " + std::to_string(least),
                       {"set it with {--window}"});
  check_phases(settings.phases, config);
  if (settings.wants(ScoreLevel::token)) check_level("vep", ScoreLevel::token, layout.bases());
  check_fits("window", window, config);
  const auto bases = static_cast<int64_t>(layout.bases());
  const bool given = !settings.wants("anchored") && !settings.horizons.empty();
  const int64_t horizon = given ? settings.horizons.front() : kDefaultHorizon;
  const bool measures = settings.wants(Measure::l2) || settings.wants(Measure::jsd);
  if (measures && (horizon < bases || horizon % bases != 0))
    throw SettingError("vep", "horizon",
                       "a horizon of " + std::to_string(horizon) +
                           " bp cannot be used by measures l2 and jsd; expected a multiple of " +
                           std::to_string(bases) + ", at least " + std::to_string(bases),
                       {"set it with {--horizon}"});
  return std::make_unique<Centered>(window, horizon, settings, layout.bases());
}

}  // namespace carbon
