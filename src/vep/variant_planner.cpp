#include "src/vep/variant_planner.hpp"

#include <deque>
#include <utility>

#include "src/vep/anchored_batch.hpp"

namespace carbon {
namespace {

Variant upper_case(const Variant& variant) {
  Variant out{variant.pos, to_upper(variant.ref), {}};
  for (const std::string& alt : variant.alts) out.alts.push_back(to_upper(alt));
  return out;
}

}  // namespace

VariantPlanner::VariantPlanner(const ModelConfig& config, const VepOptions& options)
    : layout_(config.layout), max_positions_(config.sequence_positions()), options_(options) {
  complete_vep_options(options_, config);
}

void VariantPlanner::plan(std::span<const PlacedVariant> variants, ReferenceReader& reference,
                          const std::function<void(VariantItem)>& take) const {
  const auto reference_of = [&](const std::string& contig) {
    return ContigReference{reference, contig, reference.length(contig)};
  };
  AnchoredBatch anchored(options_, layout_, nullptr);
  std::deque<VariantItem> items;
  for (size_t i = 0; i < variants.size(); ++i) {
    const PlacedVariant& placed = variants[i];
    VariantItem& item = items.emplace_back();
    item.index = i;
    item.place = placed.contig + ":" + std::to_string(placed.variant.pos + 1);
    item.alts = placed.variant.alts.size();
    const ContigReference contig = reference_of(placed.contig);
    classify(placed, contig, item.site);
    anchored.add(item.site, contig);
  }
  anchored.plan();
  for (VariantItem& item : items) {
    if (!item.site.centered.alleles.empty() || !item.site.next_token.alleles.empty())
      plan_alleles(fetch_windows(item.site, options_, reference_of(variants[item.index].contig)), options_,
                   layout_, nullptr, item.site);
    item.requests = std::move(item.site.requests);
    take(std::move(item));
  }
}

// Decides which alleles of a variant are scored.
void VariantPlanner::classify(const PlacedVariant& placed, const ContigReference& reference,
                              VepSite& site) const {
  const Variant variant = upper_case(placed.variant);
  std::string fasta_bases;
  const RecordCheck check = check_reference(variant, reference, options_, fasta_bases);
  classify_alleles(variant, check, options_, max_positions_, reference, site);
}

VariantScores VariantPlanner::read(const VariantItem& item) const {
  VariantScores out;
  out.values = site_values(item.site, options_, item.place, nullptr);
  for (size_t i = 0; i < item.alts; ++i) out.flags.push_back(item.site.flag(i));
  return out;
}

}  // namespace carbon
