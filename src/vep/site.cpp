#include "src/vep/site.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "src/base/error.hpp"
#include "src/vep/anchored_batch.hpp"
#include "src/vep/normalise.hpp"
#include "src/vep/structural.hpp"

namespace carbon {
namespace {

double checked(double value, const std::string& place) {
  if (!std::isfinite(static_cast<float>(value)))
    throw Error("vep",
                "non-finite score at " + place + "; the checkpoint's weights or activations are not finite");
  return value;
}

// Returns one score per ALT, NaN for ALTs that are not scored. `which` gives the number in a plan of a term.
// Ratios that were computed, not cached, are added to `cache`.
template <class Plan, class Which>
std::vector<double> scores(const RecipeSite<Plan>& site, const Which& which, const std::string& place,
                           ScoreCache* cache) {
  std::vector<double> values(site.flags.size(), std::numeric_limits<double>::quiet_NaN());
  for (const ScoredAllele& allele : site.alleles) {
    double sum = 0;
    for (const std::vector<ScoredAllele::Term>& phases : allele.strands) {
      double strand = 0;
      for (const ScoredAllele::Term& term : phases) {
        const Plan& plan = site.plans[term.plan];
        const double llr = plan.llr(which(term));
        strand += llr;
        if (const ScoreKey* key = plan.missing(which(term))) cache->insert(*key, checked(llr, place));
      }
      sum += strand / static_cast<double>(phases.size());
    }
    values[allele.alt] = checked(sum / static_cast<double>(allele.strands.size()), place);
  }
  return values;
}

// Calls `make` with the alleles that have one place, as `place_of` says, and adds a term to each of them,
// with the number of the plan that `make` adds to `plans`.
template <class PlaceOf, class Plans, class Make>
void group(std::vector<ScoredAllele>& alleles, size_t strand, const PlaceOf& place_of, const Plans& plans,
           const Make& make) {
  std::map<int64_t, std::vector<ScoredAllele*>> places;
  for (ScoredAllele& allele : alleles)
    if (const std::optional<int64_t> place = place_of(allele.form)) places[*place].push_back(&allele);
  for (const auto& [place, members] : places) {
    std::vector<NormalAllele> forms;
    for (ScoredAllele* allele : members) {
      allele->strands[strand].push_back({plans.size(), forms.size()});
      forms.push_back(allele->form);
    }
    make(forms);
  }
}

// The letters of a structural allele, or why it is not scored; `flag` is that of classify_structural().
std::optional<NormalAllele> structural_form(const StructuralAllele& allele, const Variant& variant,
                                            const ContigReference& reference,
                                            const std::function<char(int64_t)>& base, AlleleFlag& flag) {
  const std::string bases = reference.slice(variant.pos + 1, variant.pos + 1 + allele.length).bases;
  if (!is_acgt(bases) || (!allele.inserted.empty() && !is_acgt(allele.inserted))) {
    flag = AlleleFlag::non_acgt;
    return std::nullopt;
  }
  const Variant spelled = spelled_out(variant.pos, base(variant.pos), allele, bases);
  return normalise(spelled.pos, spelled.ref, spelled.alts[0], base);
}

}  // namespace

AlleleFlag VepSite::flag(size_t alt) const {
  for (const std::vector<AlleleFlag>* flags : {&centered.flags, &next_token.flags, &anchored.flags})
    if (!flags->empty() && (*flags)[alt] != AlleleFlag::scored) return (*flags)[alt];
  return AlleleFlag::scored;
}

RecordCheck check_reference(const Variant& variant, const ContigReference& reference,
                            const VepOptions& options, std::string& fasta_bases) {
  if (reference.length < 0) return RecordCheck::no_contig;
  // Sums of a place beyond the contig could overflow.
  if (variant.pos < 0 || variant.pos > reference.length)
    return check_record(variant, reference.length, ReferenceSlice());
  const auto ref_length = static_cast<int64_t>(variant.ref.size());
  int64_t begin = variant.pos, end = variant.pos + ref_length;
  // What the alleles of a record need that may be scored is read at once.
  const bool any_letters = std::any_of(variant.alts.begin(), variant.alts.end(),
                                       [](const std::string& alt) { return is_acgt(alt); });
  if (any_letters && options.wants(Recipe::centered)) {
    begin = std::min(begin, centered_begin(variant.pos, options.window));
    end = std::max(end, centered_end(variant.pos, options.window));
  }
  const ReferenceSlice slice = reference.slice(begin, end);
  fasta_bases = slice.get(variant.pos, variant.pos + ref_length);
  return check_record(variant, reference.length, slice);
}

void classify_alleles(const Variant& variant, RecordCheck check, const VepOptions& options,
                      size_t max_positions, const ContigReference& reference, VepSite& site) {
  const auto base = [&](int64_t i) { return reference.reader.base(reference.contig, reference.length, i); };
  const bool anchored = options.wants(Recipe::anchored);
  const int64_t longest_centered = options.window / 2,
                longest_anchored = anchored ? anchored_longest(options.anchored_context,
                                                               options.horizons.back(), max_positions)
                                            : 0;
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
    if (written == AlleleFlag::scored && !too_large(std::max(longest_centered, longest_anchored)))
      form = structural ? structural_form(*structural, variant, reference, base, flag)
                        : normalise(variant.pos, variant.ref, alt, base);
    const auto add = [&](auto& recipe, int64_t longest, AlleleFlag unfit, const auto& fits) {
      AlleleFlag mine = too_large(longest) ? written : flag;
      if (mine == AlleleFlag::scored && (too_large(longest) || !form || !fits(*form))) mine = unfit;
      recipe.flags.push_back(mine);
      if (mine == AlleleFlag::scored) recipe.alleles.push_back({i, *form, {}});
    };
    const auto at_most = [](int64_t longest) {
      return [longest](const NormalAllele& allele) { return allele.length() <= longest; };
    };
    if (options.wants(Recipe::centered))
      add(site.centered, longest_centered, AlleleFlag::too_long, at_most(longest_centered));
    if (options.wants(Recipe::next_token))
      add(site.next_token, longest_centered, AlleleFlag::multibase, at_most(1));
    if (anchored) add(site.anchored, longest_anchored, AlleleFlag::too_long, at_most(longest_anchored));
  }
}

ReferenceSlice fetch_windows(const VepSite& site, const VepOptions& options,
                             const ContigReference& reference) {
  int64_t begin = std::numeric_limits<int64_t>::max(), end = 0;
  const auto cover = [&](int64_t from, int64_t to) {
    begin = std::min(begin, from);
    end = std::max(end, to);
  };
  for (const ScoredAllele& allele : site.centered.alleles)
    cover(centered_begin(allele.form.pos, options.window), centered_end(allele.form.pos, options.window));
  for (const ScoredAllele& allele : site.next_token.alleles)
    for (const Strand strand : strands_of(Recipe::next_token, options.strand))
      cover(next_token_begin(allele.form.pos, *options.context, strand),
            next_token_end(allele.form.pos, *options.context, strand));
  for (const ScoredAllele& allele : site.anchored.alleles) {
    const StrandRange reach = anchored_reach(allele.form, options, reference);
    cover(reach.begin, reach.end);
  }
  return reference.slice(begin, end);
}

void plan_alleles(const ReferenceSlice& slice, const VepOptions& options, const TokenLayout& layout,
                  ScoreCache* cache, VepSite& site) {
  const std::vector<Strand> centered = strands_of(Recipe::centered, options.strand),
                            next_token = strands_of(Recipe::next_token, options.strand);
  for (ScoredAllele& allele : site.centered.alleles) allele.strands.resize(centered.size());
  for (ScoredAllele& allele : site.next_token.alleles) allele.strands.resize(next_token.size());
  for (size_t s = 0; s < centered.size(); ++s) {
    for (int phase = 0; phase < kPhases; ++phase) {
      const auto place = [&](const NormalAllele& form) -> std::optional<int64_t> {
        const bool read = phase < phases_of(form, options.phases) &&
                          centered_has_phase(form, slice.contig_length, options.window, centered[s], phase);
        return read ? std::optional(centered_place(form, centered[s])) : std::nullopt;
      };
      group(site.centered.alleles, s, place, site.centered.plans,
            [&](const std::vector<NormalAllele>& forms) {
              site.centered.plans.emplace_back(forms, slice, options.window, centered[s], phase, layout,
                                               site.requests, cache);
            });
    }
  }
  for (size_t s = 0; s < next_token.size(); ++s)
    group(
        site.next_token.alleles, s, [](const NormalAllele& form) { return std::optional(form.pos); },
        site.next_token.plans,
        [&](const std::vector<NormalAllele>& forms) {
          site.next_token.plans.emplace_back(forms, slice, *options.context, next_token[s], layout,
                                             site.requests, cache);
        });
}

SiteValues site_values(const VepSite& site, const VepOptions& options, const std::string& place,
                       ScoreCache* cache) {
  const auto in_plan = [](const ScoredAllele::Term& term) { return term.allele; };
  SiteValues values;
  if (options.wants(Recipe::centered)) values.push_back(scores(site.centered, in_plan, place, cache));
  if (options.wants(Recipe::next_token)) values.push_back(scores(site.next_token, in_plan, place, cache));
  for (size_t h = 0; options.wants(Recipe::anchored) && h < options.horizons.size(); ++h)
    values.push_back(scores(
        site.anchored, [h](const ScoredAllele::Term&) { return h; }, place, cache));
  return values;
}

}  // namespace carbon
