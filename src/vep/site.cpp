#include "src/vep/site.hpp"

#include <cmath>
#include <limits>

#include "src/base/error.hpp"

namespace carbon {
namespace {

double checked(double value, const std::string& place) {
  if (!std::isfinite(static_cast<float>(value)))
    throw Error("vep",
                "non-finite score at " + place + "; the checkpoint's weights or activations are not finite");
  return value;
}

// Returns one score per ALT: the mean over strands for the ALTs listed in `scored` (the i-th allele of each
// plan is ALT scored[i]), NaN for the others. Scores that were computed, not cached, are added to `cache`.
template <class Plan>
std::vector<double> mean_of_strands(size_t alts, const std::vector<size_t>& scored,
                                    const std::vector<Plan>& plans, const std::string& place,
                                    ScoreCache* cache) {
  std::vector<double> values(alts, std::numeric_limits<double>::quiet_NaN());
  for (size_t i = 0; i < scored.size(); ++i) {
    double sum = 0;
    for (const Plan& plan : plans) {
      const double llr = plan.llr(i);
      sum += llr;
      if (const ScoreKey* key = plan.missing(i)) cache->insert(*key, checked(llr, place));
    }
    values[scored[i]] = checked(sum / static_cast<double>(plans.size()), place);
  }
  return values;
}

}  // namespace

AlleleFlag VepSite::flag(size_t alt) const {
  if (!centered.empty() && centered[alt] != AlleleFlag::scored) return centered[alt];
  return next_token.empty() ? AlleleFlag::scored : next_token[alt];
}

ReferenceSlice fetch_reference(const VepOptions& options, const IndexedFasta& fasta,
                               const std::string& contig, int64_t length, const Variant& variant) {
  int64_t begin = variant.pos, end = variant.pos + static_cast<int64_t>(variant.ref.size());
  const auto cover = [&](int64_t from, int64_t to) {
    begin = std::min(begin, from);
    end = std::max(end, to);
  };
  if (options.wants(Recipe::centered))
    cover(centered_begin(variant.pos, options.window), centered_end(variant.pos, options.window));
  if (options.wants(Recipe::next_token))
    for (const Strand strand : strands_of(Recipe::next_token, options.strand))
      cover(next_token_begin(variant.pos, options.context, strand),
            next_token_end(variant.pos, options.context, strand));
  begin = std::clamp<int64_t>(begin, 0, length);
  end = std::clamp(end, begin, length);
  return {begin, length, to_upper(fasta.fetch(contig, begin, end))};
}

void classify_alleles(const Variant& variant, RecordCheck check, const VepOptions& options, VepSite& site) {
  for (size_t i = 0; i < variant.alts.size(); ++i) {
    const std::string& alt = variant.alts[i];
    const AlleleFlag common = classify_allele(alt, check);
    if (options.wants(Recipe::centered)) {
      const bool too_long =
          common == AlleleFlag::scored && centered_too_long(variant.ref, alt, options.window);
      site.centered.push_back(too_long ? AlleleFlag::too_long : common);
      if (site.centered.back() == AlleleFlag::scored) site.centered_alts.push_back(i);
    }
    if (options.wants(Recipe::next_token)) {
      const bool multibase = common == AlleleFlag::scored && (variant.ref.size() != 1 || alt.size() != 1);
      site.next_token.push_back(multibase ? AlleleFlag::multibase : common);
      if (site.next_token.back() == AlleleFlag::scored) site.next_token_alts.push_back(i);
    }
  }
}

void plan_alleles(const Variant& variant, const ReferenceSlice& slice, const VepOptions& options,
                  const TokenLayout& layout, ScoreCache* cache, VepSite& site) {
  const auto chosen = [&](const std::vector<size_t>& indices) {
    std::vector<std::string> alts;
    for (const size_t i : indices) alts.push_back(variant.alts[i]);
    return alts;
  };
  if (const auto alts = chosen(site.centered_alts); !alts.empty())
    for (const Strand strand : strands_of(Recipe::centered, options.strand))
      site.centered_plans.emplace_back(variant.pos, variant.ref, alts, slice, options.window, strand, layout,
                                       site.requests, cache);
  if (const auto alts = chosen(site.next_token_alts); !alts.empty())
    for (const Strand strand : strands_of(Recipe::next_token, options.strand))
      site.next_token_plans.emplace_back(variant.pos, variant.ref, alts, slice, options.context, strand,
                                         layout, site.requests, cache);
}

SiteValues site_values(const VepSite& site, const std::string& place, ScoreCache* cache) {
  return {mean_of_strands(site.centered.size(), site.centered_alts, site.centered_plans, place, cache),
          mean_of_strands(site.next_token.size(), site.next_token_alts, site.next_token_plans, place, cache)};
}

}  // namespace carbon
