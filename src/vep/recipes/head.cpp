#include "src/vep/recipes/recipes.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "src/base/error.hpp"
#include "src/base/words.hpp"

namespace carbon {
namespace {

constexpr int64_t kLeastWindow = 12;

/// The window of an allele.
struct HeadWindow {
  std::string bases;                // those that are read
  RequestPtr request = {};          // null: nothing is computed
  std::vector<double> values = {};  // of the labels, when they were first asked for

  const std::vector<double>& of(const LabelValues& labels) {
    if (values.empty()) values = labels.values(request->states);
    return values;
  }
};
using HeadWindowPtr = std::shared_ptr<HeadWindow>;

class LabelDifferences final : public AlleleRatios {
 public:
  LabelDifferences(std::shared_ptr<const LabelValues> labels, HeadWindowPtr reference,
                   HeadWindowPtr alternative)
      : labels_(std::move(labels)), reference_(std::move(reference)), alternative_(std::move(alternative)) {}

  double value(size_t tag) const override {
    if (!differs()) return 0;
    if (!cached_.empty() && cached_[tag].llr) return *cached_[tag].llr;
    return alternative_->of(*labels_)[tag] - reference_->of(*labels_)[tag];
  }
  const ScoreKey* missing(size_t tag) const override {
    return cached_.empty() || cached_[tag].llr ? nullptr : &cached_[tag].key;
  }

  bool differs() const { return reference_->bases != alternative_->bases; }
  /// What the score cache has for each tag.
  void set_cached(std::vector<CachedScore> cached) { cached_ = std::move(cached); }
  bool computes() const {
    return differs() && (cached_.empty() || std::any_of(cached_.begin(), cached_.end(),
                                                        [](const CachedScore& each) { return !each.llr; }));
  }

 private:
  std::shared_ptr<const LabelValues> labels_;
  HeadWindowPtr reference_, alternative_;
  std::vector<CachedScore> cached_;  // one per tag; empty: no cache, or nothing to compute
};

// Lets the request begin with the tokens that it has in common with another one. One row at least is its own:
// the one that is read.
void share_beginning(const RequestPtr& parent, Request& request) {
  const auto differ = std::mismatch(request.tokens.begin(), request.tokens.end(), parent->tokens.begin(),
                                    parent->tokens.end());
  const auto same = static_cast<size_t>(differ.first - request.tokens.begin());
  request.shared = std::min(same, request.tokens.size() - 1);
  request.parent = parent;
  request.tokens.erase(request.tokens.begin(),
                       request.tokens.begin() + static_cast<ptrdiff_t>(request.shared));
  request.want_begin -= request.shared;
  ++parent->forks;
}

class HeadRecipe final : public Recipe {
 public:
  HeadRecipe(const RecipeSettings& settings, const ModelConfig& config, int64_t window)
      : window_(window),
        token_bases_(static_cast<int64_t>(config.layout.bases())),
        phases_(settings.phases == PhaseChoice::all ? static_cast<int>(token_bases_) : 1),
        strands_(strands_of(settings.strand, StrandChoice::both)),
        pooling_{pool_of(settings.pooling, config.layout), settings.pooling.pad_tail},
        rows_("vep", config, pooling_),
        labels_(settings.values),
        tag_labels_(tag_labels(labels_->names())) {
    if (window > static_cast<int64_t>(rows_.largest()))
      throw SettingError("vep", "window",
                         "a window of " + std::to_string(window) +
                             " bp does not fit the model's context; the largest that fits is " +
                             std::to_string(rows_.largest()) + " bp",
                         {"set it with {--window}"});
  }

  const char* name() const override { return kHeadRecipe.name; }
  Settings sizes() const override {
    Settings all = tag_sizes(0);
    all.emplace_back("labels", joined(tag_labels_, "+"));
    return all;
  }
  // The label is in the name of the tag.
  Settings tag_sizes(size_t /*tag*/) const override {
    Settings all = {{"window", std::to_string(window_)}, {"phases", std::to_string(phases_)}};
    for (auto& setting : reading()) all.push_back(std::move(setting));
    return all;
  }
  std::vector<Strand> strands() const override { return strands_; }
  std::vector<InfoTag> tags(const std::string& prefix) const override {
    std::vector<InfoTag> tags;
    for (const std::string& label : tag_labels_)
      tags.push_back({prefix + "_" + kHeadRecipe.tag + "_" + label, "A", "Float",
                      "Value of label " + label + " from the classification head for the " +
                          std::to_string(window_) + " bp window, alternative minus reference"});
    return tags;
  }
  size_t tag_count() const override { return tag_labels_.size(); }
  bool has_log_ratios(size_t /*tag*/) const override { return false; }
  AlleleLimits limits() const override { return {window_ / 2, AlleleFlag::too_long, window_ / 2}; }
  BaseRange reach(const NormalAllele& form, const ContigReference&) const override {
    return {centered_begin(form.pos, window_), centered_end(form.pos, window_)};
  }
  std::string warning() const override {
    const int64_t lost = pooling_.pad_tail ? 0 : window_ % token_bases_;
    if (lost == 0) return "";
    return "the last " + std::to_string(lost) + " of the " + std::to_string(window_) +
           " bases of each window are not read, because 6-mers are whole";
  }
  void plan(std::span<const PlacedSite> sites, size_t own, const Planning& with) const override {
    for (const auto& [site, reference] : sites) plan(*site, site->recipes[own].alleles, reference, with);
  }

 private:
  // What the values depend on besides model, windows and strands.
  Settings reading() const {
    Settings all = {{"pool", word_of(kPoolWords, *pooling_.pool)},
                    {"tail", word_of(kTailWords, pooling_.pad_tail)}};
    for (auto& setting : labels_->settings()) all.push_back(std::move(setting));
    return all;
  }

  void plan(VepSite& site, std::vector<ScoredAllele>& alleles, const ContigReference& reference,
            const Planning& with) const {
    if (alleles.empty()) return;
    BaseRange all = kNoBases;
    for (ScoredAllele& allele : alleles) {
      allele.strands.resize(strands_.size());
      all = all.with(reach(allele.form, reference));
    }
    const ReferenceSlice slice = reference.slice(all);
    for (size_t s = 0; s < strands_.size(); ++s)
      for (int phase = 0; phase < phases_; ++phase) {
        std::map<int64_t, std::vector<ScoredAllele*>> places;  // alleles with one window of the reference
        for (ScoredAllele& allele : alleles)
          if (centered_has_phase(allele.form, slice.contig_length, window_, strands_[s], phase))
            places[centered_place(allele.form, strands_[s])].push_back(&allele);
        for (const auto& [place, members] : places)
          plan_windows(members, slice, s, phase, with, site.requests);
      }
  }

  void plan_windows(const std::vector<ScoredAllele*>& members, const ReferenceSlice& slice, size_t s,
                    int phase, const Planning& with, std::vector<RequestPtr>& requests) const {
    std::vector<NormalAllele> forms;
    for (const ScoredAllele* allele : members) forms.push_back(allele->form);
    const CenteredWindows windows = centered_windows(forms, slice, window_, strands_[s], phase);
    // Near the end of a contig a window, and the one that it is compared with, may be shorter than others.
    std::map<size_t, HeadWindowPtr> references;
    for (size_t i = 0; i < members.size(); ++i) {
      const std::string alternative = read_part(windows.alternatives[i]);
      HeadWindowPtr& reference = references[windows.alternatives[i].size()];
      if (!reference)
        reference = std::make_shared<HeadWindow>(
            HeadWindow{read_part(windows.reference.substr(0, windows.alternatives[i].size()))});
      add_allele(*members[i], s, reference, std::make_shared<HeadWindow>(HeadWindow{alternative}), with,
                 requests);
    }
  }

  // Without the bases of a tail that is cut off, so that alleles that differ only there are equal.
  std::string read_part(const std::string& window) const {
    return window.substr(0, rows_.kmers(window.size()) * static_cast<size_t>(token_bases_));
  }

  void add_allele(ScoredAllele& allele, size_t s, const HeadWindowPtr& reference,
                  const HeadWindowPtr& alternative, const Planning& with,
                  std::vector<RequestPtr>& requests) const {
    auto differences = std::make_unique<LabelDifferences>(labels_, reference, alternative);
    if (with.cache && differences->differs())
      differences->set_cached(look_up(*with.cache, strands_[s], reference->bases, alternative->bases));
    if (differences->computes()) {
      if (!reference->request) requests.push_back(reference->request = rows_.request(reference->bases));
      alternative->request = rows_.request(alternative->bases);
      share_beginning(reference->request, *alternative->request);
      requests.push_back(alternative->request);
    }
    allele.strands[s].push_back(std::move(differences));
  }

  std::vector<CachedScore> look_up(ScoreCache& cache, Strand strand, const std::string& reference,
                                   const std::string& alternative) const {
    std::vector<CachedScore> cached;
    const std::string recipe = name() + (" " + header_text(reading())) + " label ";
    for (size_t tag = 0; tag < tag_labels_.size(); ++tag)
      cached.push_back(cache.look_up(recipe + std::to_string(tag), strand, {reference, alternative}));
    return cached;
  }

  int64_t window_, token_bases_;
  int phases_;
  std::vector<Strand> strands_;
  Pooling pooling_;
  PooledRows rows_;
  std::shared_ptr<const LabelValues> labels_;
  std::vector<std::string> tag_labels_;
};

}  // namespace

std::unique_ptr<const Recipe> make_head(const RecipeSettings& settings, const ModelConfig& config) {
  if (!settings.values)
    throw SettingError("vep", "recipe", "recipe head needs a model with a classification head",
                       {"name a fine-tuned model with {--model}, or its adapter with {--lora}; 'carbon "
                        "models' shows labels"});
  if (!settings.window)
    throw SettingError("vep", "window",
                       "recipe head needs a window: the number of bases that the head was trained on",
                       {"set it with {--window}"});
  if (*settings.window < kLeastWindow)
    throw SettingError("vep", "window",
                       "a window of " + std::to_string(*settings.window) +
                           " bp cannot be used; expected a number of at least " +
                           std::to_string(kLeastWindow),
                       {"set it with {--window}"});
  return std::make_unique<HeadRecipe>(settings, config, *settings.window);
}

}  // namespace carbon
