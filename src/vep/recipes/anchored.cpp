#include "src/vep/recipes/recipes.hpp"

#include <algorithm>
#include <deque>

#include "src/base/error.hpp"
#include "src/base/words.hpp"
#include "src/vep/shared_window.hpp"
#include "src/vep/variant.hpp"
#include "tokenizer/kmer.hpp"

namespace carbon {

BaseRange mirrored(const BaseRange& range, int64_t contig_length, Strand strand) {
  if (strand == Strand::forward) return range;
  return {contig_length - range.end, contig_length - range.begin};
}

NormalAllele strand_form(const NormalAllele& form, int64_t contig_length, Strand strand,
                         const std::function<char(int64_t)>& base) {
  if (strand == Strand::forward) return right_aligned(form, contig_length, base);
  // The normal form is the leftmost one already.
  return {contig_length - form.end(), reverse_complement(form.ref), reverse_complement(form.alt)};
}

AnchoredPlace anchored_place(int64_t pos, int64_t context, int phase, size_t bases) {
  const auto kmer = static_cast<int64_t>(bases);
  const int64_t first = (pos - phase) / kmer * kmer;
  const int64_t start = context * std::max<int64_t>(0, first / context - 1);
  return {start + phase, first + phase};
}

int64_t anchored_end(const NormalAllele& allele, int64_t horizon) {
  return allele.pos + allele.length() + horizon;
}

int64_t anchored_bases_end(const NormalAllele& allele, int64_t horizon) {
  const auto removed = static_cast<int64_t>(allele.ref.size()) - static_cast<int64_t>(allele.alt.size());
  return anchored_end(allele, horizon) + std::max<int64_t>(removed, 0);
}

std::string anchored_alternative(const NormalAllele& allele, const AnchoredPlace& place, int64_t horizon,
                                 const ReferenceSlice& strand) {
  const size_t length = strand.get(place.first, anchored_end(allele, horizon)).size();
  std::string bases(strand.get(place.first, allele.pos));
  bases += allele.alt;
  if (bases.size() < length)
    bases += strand.get(allele.end(), allele.end() + static_cast<int64_t>(length - bases.size()));
  bases.resize(std::min(bases.size(), length));
  return bases;
}

int64_t anchored_longest(int64_t context, int64_t horizon, size_t max_positions, size_t bases) {
  // 1 + ceil((2 * context + horizon + longest - 1) / bases) <= max_positions
  const auto largest = static_cast<int64_t>(bases * (max_positions - 1));
  return largest - 2 * context - horizon + 1;
}

namespace {

// So many windows of a strand and phase are continued at a time. The ALTs of a record may lie in two.
constexpr size_t kOpenWindows = 2;

struct AnchoredSizes {
  int64_t context;
  std::vector<int64_t> horizons;  // they ascend
  PhaseChoice phases;
  std::vector<Strand> strands;
  size_t token_bases;
  int64_t longest;  // allele, in bases
};

NormalAllele form_on(const NormalAllele& form, Strand strand, const ContigReference& reference) {
  return strand_form(form, reference.length, strand, [&](int64_t i) { return reference.base(i); });
}

// Bases of a range on the strand, in the strand's coordinates.
ReferenceSlice strand_slice(const ContigReference& reference, Strand strand, const BaseRange& range) {
  ReferenceSlice slice = reference.slice(mirrored(range, reference.length, strand));
  if (strand == Strand::forward) return slice;
  slice.begin = std::max<int64_t>(range.begin, 0);
  slice.bases = reverse_complement(slice.bases);
  return slice;
}

// Calls `take` with the number of the strand, phase, form and place of everything that an allele is compared
// in.
template <class Take>
void for_places(const NormalAllele& form, const AnchoredSizes& sizes, const ContigReference& reference,
                const Take& take) {
  for (size_t s = 0; s < sizes.strands.size(); ++s) {
    const NormalAllele on_strand = form_on(form, sizes.strands[s], reference);
    for (int phase = 0; phase < phases_of(form, sizes.phases, static_cast<int>(sizes.token_bases)); ++phase)
      if (anchored_has_phase(on_strand.pos, phase))
        take(s, phase, on_strand, anchored_place(on_strand.pos, sizes.context, phase, sizes.token_bases));
  }
}

// The sites that are planned together.
class AnchoredBatch {
 public:
  AnchoredBatch(const char* recipe, const AnchoredSizes& sizes, const Planning& with)
      : recipe_(recipe), sizes_(sizes), with_(with) {}

  void add(VepSite& site, std::vector<ScoredAllele>& alleles, const ContigReference& reference) {
    for (ScoredAllele& allele : alleles) {
      allele.strands.resize(sizes_.strands.size());
      for_places(allele.form, sizes_, reference,
                 [&](size_t s, int phase, const NormalAllele& form, const AnchoredPlace& place) {
                   // The order of the ratios, and so of their sum, must not depend on that of the windows.
                   auto& ratios = allele.strands[s];
                   window_for(reference, s, phase, place.start)
                       .members.push_back({&site, &allele, ratios.size(), form, place});
                   ratios.emplace_back();
                 });
    }
  }

  void plan() const {
    for (const Window& window : windows_) plan(window);
  }

 private:
  /// An allele in one phase on one strand.
  struct Member {
    VepSite* site;
    ScoredAllele* allele;
    size_t ratio;  // its place among those of the strand
    NormalAllele form;
    AnchoredPlace place;
  };
  /// A window, and the alleles that share it.
  struct Window {
    ContigReference reference;
    size_t strand;  // its number
    int64_t start;
    std::vector<Member> members;
  };

  Window& window_for(const ContigReference& reference, size_t strand, int phase, int64_t start) {
    std::vector<Window*>& open = open_[strand][phase];
    for (Window* window : open)
      if (window->start == start && window->reference.contig == reference.contig) return *window;
    windows_.push_back({reference, strand, start, {}});
    if (open.size() == kOpenWindows) open.erase(open.begin());
    open.push_back(&windows_.back());
    return windows_.back();
  }

  void plan(const Window& window) const {
    const int64_t horizon = sizes_.horizons.back();
    int64_t end = 0, bases_end = 0;
    for (const Member& member : window.members) {
      end = std::max(end, anchored_end(member.form, horizon));
      bases_end = std::max(bases_end, anchored_bases_end(member.form, horizon));
    }
    const ReferenceSlice strand =
        strand_slice(window.reference, sizes_.strands[window.strand], {window.start, bases_end});
    const auto shared = std::make_shared<SharedWindow>(sizes_.token_bases);
    shared->bases = strand.get(window.start, end);
    std::vector<WindowUser> users;
    for (const Member& member : window.members) {
      auto forked = fork(window, member, strand, shared);
      users.push_back({forked.get(), &member.site->requests});
      member.allele->strands[window.strand][member.ratio] = std::move(forked);
    }
    request_window(*shared, users, with_.layout);
  }

  std::unique_ptr<ForkedAllele> fork(const Window& window, const Member& member, const ReferenceSlice& strand,
                                     const std::shared_ptr<const SharedWindow>& shared) const {
    AlleleComparison comparison;
    comparison.first = static_cast<size_t>(member.place.first - window.start) / sizes_.token_bases;
    comparison.alternative = anchored_alternative(member.form, member.place, sizes_.horizons.back(), strand);
    for (const int64_t horizon : sizes_.horizons) {
      const int64_t end = anchored_end(member.form, horizon) - member.place.first;
      comparison.ends.push_back(std::min(comparison.alternative.size(), static_cast<size_t>(end)));
    }
    auto forked = std::make_unique<ForkedAllele>(shared, std::move(comparison));
    for (size_t h = 0; with_.cache && h < forked->tags() && forked->differs(h); ++h)
      forked->set_cached(h, with_.cache->look_up(recipe_, sizes_.strands[window.strand],
                                                 {forked->bases_before(), forked->reference_bases(h),
                                                  forked->alternative_bases(h)}));
    return forked;
  }

  const char* recipe_;
  const AnchoredSizes& sizes_;
  const Planning& with_;
  std::deque<Window> windows_;
  std::vector<Window*> open_[2][kMostPhases];  // by number of the strand and phase; the last was begun last
};

class Anchored final : public Recipe {
 public:
  explicit Anchored(AnchoredSizes sizes) : sizes_(std::move(sizes)) {}

  const char* name() const override { return kAnchored.name; }
  Settings sizes() const override {
    return {{"phases", word_of(kPhaseWords, sizes_.phases)},
            {"context", std::to_string(sizes_.context)},
            {"horizon", joined(sizes_.horizons, "+", [](int64_t bp) { return std::to_string(bp); })}};
  }
  std::vector<Strand> strands() const override { return sizes_.strands; }
  std::vector<InfoTag> tags(const std::string& prefix) const override {
    std::vector<InfoTag> tags;
    for (const int64_t horizon : sizes_.horizons) {
      const std::string bp = std::to_string(horizon);
      tags.push_back({prefix + "_" + kAnchored.tag + (tag_count() > 1 ? "_" + bp : ""), "A", "Float",
                      "Carbon log-likelihood ratio of the allele and " + bp +
                          " bp after it on a shared window, alternative minus reference, in nats"});
    }
    return tags;
  }
  size_t tag_count() const override { return sizes_.horizons.size(); }
  AlleleLimits limits() const override { return {sizes_.longest, AlleleFlag::too_long, sizes_.longest}; }
  BaseRange reach(const NormalAllele& form, const ContigReference& reference) const override {
    BaseRange all = kNoBases;
    for_places(form, sizes_, reference,
               [&](size_t s, int, const NormalAllele& on_strand, const AnchoredPlace& place) {
                 const int64_t end = anchored_bases_end(on_strand, sizes_.horizons.back());
                 all = all.with(mirrored({place.start, end}, reference.length, sizes_.strands[s]));
               });
    return all;
  }
  bool shares_windows() const override { return true; }
  void plan(std::span<const PlacedSite> sites, size_t own, const Planning& with) const override {
    AnchoredBatch batch(name(), sizes_, with);
    for (const auto& [site, reference] : sites) batch.add(*site, site->recipes[own].alleles, reference);
    batch.plan();
  }

 private:
  AnchoredSizes sizes_;
};

void check_context(int64_t context, int64_t longest_horizon, size_t max_positions, size_t bases) {
  const auto kmer = static_cast<int64_t>(bases);
  if (context < kmer || context % kmer != 0)
    throw SettingError("vep", "context",
                       "a context of " + std::to_string(context) +
                           " bp cannot be used by recipe anchored; expected a multiple of " +
                           std::to_string(kmer),
                       {"set it with {--context}"});
  if (longest_horizon < 0)
    throw SettingError("vep", "context",
                       "windows of two contexts of " + std::to_string(context) +
                           " bp do not fit the model's context of " + std::to_string(max_positions) +
                           " tokens; the largest that fits is " +
                           std::to_string((context + longest_horizon / 2) / kmer * kmer) + " bp",
                       {"set it with {--context}"});
}

}  // namespace

std::unique_ptr<const Recipe> make_anchored(const RecipeSettings& settings, const ModelConfig& config) {
  const size_t positions = config.sequence_positions(), bases = config.layout.bases();
  if (bases == 1)
    throw SettingError(
        "vep", "recipe",
        "recipe anchored cannot be used with a model of one base a token, whose windows are too "
        "short to be shared; use centered or next-token");
  AnchoredSizes sizes{settings.context.value_or(kDefaultAnchoredContext),
                      settings.horizons,
                      settings.phases,
                      strands_of(settings.strand, StrandChoice::both),
                      bases,
                      0};
  if (sizes.horizons.empty()) sizes.horizons = {kDefaultHorizon};
  const int64_t largest = anchored_longest(sizes.context, 0, positions, bases) - 1;
  check_context(sizes.context, largest, positions, bases);
  if (sizes.horizons.back() > largest)
    throw SettingError("vep", "horizon",
                       "a horizon of " + std::to_string(sizes.horizons.back()) +
                           " bp does not fit the model's context of " + std::to_string(positions) +
                           " tokens; the largest that fits is " + std::to_string(largest) + " bp",
                       {"set it with {--horizon}"});
  sizes.longest = anchored_longest(sizes.context, sizes.horizons.back(), positions, bases);
  return std::make_unique<Anchored>(std::move(sizes));
}

}  // namespace carbon
