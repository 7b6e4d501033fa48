#include "src/vep/variant_scores.hpp"

#include <cmath>
#include <limits>

#include "src/base/error.hpp"
#include "src/vep/planner.hpp"

namespace carbon {
namespace {

Variant upper_case(const Variant& variant) {
  Variant out{variant.pos, to_upper(variant.ref), {}};
  for (const std::string& alt : variant.alts) out.alts.push_back(to_upper(alt));
  return out;
}

VepSite plan(const PlacedVariant& placed, const IndexedFasta& fasta, const VepOptions& options,
             const TokenLayout& layout) {
  const Variant variant = upper_case(placed.variant);
  const int64_t length = fasta.length(placed.contig);
  const ReferenceSlice slice =
      length >= 0 ? fetch_reference(options, fasta, placed.contig, length, variant) : ReferenceSlice{};
  VepSite site;
  classify_alleles(variant, check_record(variant, length, slice), options, site);
  plan_alleles(variant, slice, options, layout, nullptr, site);
  return site;
}

// As run_vep() does: the sum over strands in their order, divided by their number.
template <class Plan>
void add_means(const VepSite& site, const std::vector<size_t>& scored, const std::vector<Plan>& plans,
               const PlacedVariant& placed, VariantScores& out) {
  for (size_t i = 0; i < scored.size(); ++i) {
    double sum = 0;
    for (const Plan& plan : plans) sum += plan.llr(i, site.jobs);
    const double mean = sum / static_cast<double>(plans.size());
    if (!std::isfinite(static_cast<float>(mean)))
      throw Error("score_variants", "non-finite score at " + placed.contig + ":" +
                                        std::to_string(placed.variant.pos + 1) +
                                        "; the checkpoint's weights or activations are not finite");
    out.values[scored[i]] = mean;
  }
}

VariantScores finished(const VepSite& site, const PlacedVariant& placed) {
  const size_t alts = placed.variant.alts.size();
  VariantScores out;
  out.values.assign(alts, std::numeric_limits<double>::quiet_NaN());
  for (size_t i = 0; i < alts; ++i) out.flags.push_back(site.flag(i));
  add_means(site, site.centered_alts, site.centered_plans, placed, out);
  add_means(site, site.next_token_alts, site.next_token_plans, placed, out);
  return out;
}

}  // namespace

void score_variants(Engine& engine, const IndexedFasta& fasta, const VepOptions& options,
                    std::span<const PlacedVariant> variants,
                    const std::function<void(size_t, const VariantScores&)>& take) {
  check_vep_options(options, engine.config().max_positions);
  std::vector<VepSite> sites;
  size_t first = 0, tokens = 0;
  const auto flush = [&] {
    std::vector<ScoreJob*> jobs;
    for (VepSite& site : sites)
      for (ScoreJob& job : site.jobs) jobs.push_back(&job);
    score_jobs(engine, jobs);
    for (size_t i = 0; i < sites.size(); ++i) take(first + i, finished(sites[i], variants[first + i]));
    first += sites.size();
    sites.clear();
    tokens = 0;
  };
  for (const PlacedVariant& variant : variants) {
    sites.push_back(plan(variant, fasta, options, engine.config().layout));
    for (const ScoreJob& job : sites.back().jobs) tokens += job.cost();
    if (tokens >= engine.batch_tokens()) flush();
  }
  flush();
}

}  // namespace carbon
