#include "src/vep/site_planner.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "src/base/error.hpp"
#include "src/vep/structural.hpp"
#include "src/vep/variant.hpp"

namespace carbon {
namespace {

double checked(double value, const std::string& place) {
  if (!std::isfinite(static_cast<float>(value))) throw not_finite("vep", "score at " + place);
  return value;
}

// Returns one score per ALT for a tag, NaN for ALTs that are not scored. Phases that say nothing are left
// out, and so are strands without a phase. Ratios that were computed, not cached, are added to `cache`.
std::vector<double> scores(const RecipeSite& site, size_t tag, const std::string& place, ScoreCache* cache) {
  std::vector<double> values(site.flags.size(), std::numeric_limits<double>::quiet_NaN());
  for (const ScoredAllele& allele : site.alleles) {
    double sum = 0;
    size_t strands = 0;
    for (const auto& phases : allele.strands) {
      double strand = 0;
      size_t count = 0;
      for (const auto& ratios : phases) {
        if (!ratios->has(tag)) continue;
        const double value = ratios->value(tag);
        strand += value;
        ++count;
        if (const ScoreKey* key = ratios->missing(tag)) cache->insert(*key, checked(value, place));
      }
      if (count == 0) continue;
      sum += strand / static_cast<double>(count);
      ++strands;
    }
    if (strands > 0) values[allele.alt] = checked(sum / static_cast<double>(strands), place);
  }
  return values;
}

// Adds `more` times `share` to the sums.
void add(std::vector<double>& sums, const std::vector<float>& more, double share) {
  sums.resize(more.size());
  for (size_t i = 0; i < more.size(); ++i) sums[i] += share * more[i];
}

std::vector<float> rounded(const std::vector<double>& sums, const std::string& place) {
  std::vector<float> values(sums.begin(), sums.end());
  for (const float value : values)
    if (!std::isfinite(value)) throw not_finite("vep", "hidden state at " + place);
  return values;
}

std::optional<AlleleMeans> means_of(const ScoredAllele& allele, const std::string& place) {
  std::vector<std::vector<AlleleMeans>> strands;  // those with a mean, and their phases with one
  for (const auto& phases : allele.strands) {
    std::vector<AlleleMeans> found;
    for (const auto& ratios : phases)
      if (std::optional<AlleleMeans> means = ratios->means()) found.push_back(std::move(*means));
    if (!found.empty()) strands.push_back(std::move(found));
  }
  if (strands.empty()) return std::nullopt;
  std::vector<double> ref, alt;
  for (const auto& phases : strands)
    for (const AlleleMeans& means : phases) {
      const double share = 1.0 / static_cast<double>(strands.size() * phases.size());
      add(ref, means.ref, share);
      add(alt, means.alt, share);
    }
  return AlleleMeans{rounded(ref, place), rounded(alt, place)};
}

// The letters of a structural allele, or why it is not scored; `flag` is that of classify_structural().
std::optional<NormalAllele> structural_form(const StructuralAllele& allele, const Variant& variant,
                                            const ContigReference& reference,
                                            const std::function<char(int64_t)>& base, AlleleFlag& flag) {
  const std::string bases = reference.slice({variant.pos + 1, variant.pos + 1 + allele.length}).bases;
  if (!is_acgt(bases) || (!allele.inserted.empty() && !is_acgt(allele.inserted))) {
    flag = AlleleFlag::non_acgt;
    return std::nullopt;
  }
  const Variant spelled = spelled_out(variant.pos, base(variant.pos), allele, bases);
  return normalise(spelled.pos, spelled.ref, spelled.alts[0], base);
}

}  // namespace

RecordCheck check_reference(const Variant& variant, const ContigReference& reference,
                            std::string& fasta_bases) {
  if (reference.length < 0) return RecordCheck::no_contig;
  // Sums of a place beyond the contig could overflow.
  if (variant.pos < 0 || variant.pos > reference.length)
    return check_record(variant, reference.length, ReferenceSlice());
  const auto ref_length = static_cast<int64_t>(variant.ref.size());
  const ReferenceSlice slice = reference.slice({variant.pos, variant.pos + ref_length});
  fasta_bases = slice.bases;
  return check_record(variant, reference.length, slice);
}

size_t SitePlanner::tag_count() const {
  size_t count = 0;
  for (const auto& recipe : recipes_) count += recipe->tag_count();
  return count;
}

bool SitePlanner::shares_windows() const {
  return std::any_of(recipes_.begin(), recipes_.end(),
                     [](const auto& recipe) { return recipe->shares_windows(); });
}

VepSite SitePlanner::classify(const Variant& variant, RecordCheck check,
                              const ContigReference& reference) const {
  const auto base = [&](int64_t i) { return reference.base(i); };
  int64_t spelled_out = 0;
  size_t tags = 0;
  for (const auto& recipe : recipes_) spelled_out = std::max(spelled_out, recipe->limits().spelled_out);
  VepSite site;
  site.recipes.resize(recipes_.size());
  for (const auto& recipe : recipes_) {
    if (recipe->first_measure() < recipe->tag_count()) {
      site.first_measure = tags + recipe->first_measure();
      break;
    }
    tags += recipe->tag_count();
  }
  for (size_t i = 0; i < variant.alts.size(); ++i) {
    const std::string& alt = variant.alts[i];
    const StructuralAllele* structural =
        i < variant.structural.size() && variant.structural[i] ? &*variant.structural[i] : nullptr;
    const AlleleFlag written = structural ? classify_structural(*structural, variant, reference.length, check)
                                          : classify_allele(alt, check);
    // The letters of a structural allele are read only if some recipe may score it. Inserted bases that equal
    // deleted ones make the normal form shorter.
    const auto too_large = [&](int64_t longest) {
      return structural && structural->length - static_cast<int64_t>(structural->inserted.size()) > longest;
    };
    AlleleFlag flag = written;
    std::optional<NormalAllele> form;
    if (written == AlleleFlag::scored && !too_large(spelled_out))
      form = structural ? structural_form(*structural, variant, reference, base, flag)
                        : normalise(variant.pos, variant.ref, alt, base);
    for (size_t r = 0; r < recipes_.size(); ++r) {
      const AlleleLimits limits = recipes_[r]->limits();
      AlleleFlag mine = too_large(limits.spelled_out) ? written : flag;
      if (mine == AlleleFlag::scored &&
          (too_large(limits.spelled_out) || !form || form->length() > limits.scored))
        mine = limits.beyond;
      // Nothing to compute, unless mean states are wanted, which such alleles have.
      if (mine == AlleleFlag::scored && form->changes_length() && recipes_[r]->first_measure() == 0 &&
          !with_.means)
        mine = AlleleFlag::changes_length;
      site.recipes[r].flags.push_back(mine);
      if (mine == AlleleFlag::scored) site.recipes[r].alleles.push_back({i, *form});
    }
  }
  return site;
}

BaseRange SitePlanner::reach(const VepSite& site, const ContigReference& reference) const {
  BaseRange all = kNoBases;
  for (size_t r = 0; r < recipes_.size(); ++r)
    for (const ScoredAllele& allele : site.recipes[r].alleles)
      all = all.with(recipes_[r]->reach(allele.form, reference));
  return all;
}

void SitePlanner::plan(std::span<const PlacedSite> sites, const std::function<void(size_t)>& ready) const {
  for (size_t r = 0; r < recipes_.size(); ++r)
    if (recipes_[r]->shares_windows()) recipes_[r]->plan(sites, r, with_);
  // The windows of the others are made as late as can be, as they take memory.
  for (size_t i = 0; i < sites.size(); ++i) {
    for (size_t r = 0; r < recipes_.size(); ++r)
      if (!recipes_[r]->shares_windows()) recipes_[r]->plan(sites.subspan(i, 1), r, with_);
    ready(i);
  }
}

std::vector<std::optional<AlleleMeans>> SitePlanner::means(const VepSite& site,
                                                           const std::string& place) const {
  std::vector<std::optional<AlleleMeans>> all;
  for (const ScoredAllele& allele : site.recipes.front().alleles) all.push_back(means_of(allele, place));
  return all;
}

SiteValues SitePlanner::values(const VepSite& site, const std::string& place) const {
  SiteValues values;
  for (size_t r = 0; r < recipes_.size(); ++r)
    for (size_t tag = 0; tag < recipes_[r]->tag_count(); ++tag)
      values.push_back(scores(site.recipes[r], tag, place, with_.cache));
  return values;
}

}  // namespace carbon
