#include "src/vep/variant_scores.hpp"

#include <deque>
#include <utility>

#include "src/engine/ordered_writer.hpp"
#include "src/vep/shared_window.hpp"
#include "tokenizer/kmer.hpp"

namespace carbon {
namespace {

Variant upper_case(const Variant& variant) {
  Variant out{variant.pos, to_upper(variant.ref), {}};
  for (const std::string& alt : variant.alts) out.alts.push_back(to_upper(alt));
  out.structural = variant.structural;
  return out;
}

}  // namespace

size_t VariantItem::bytes() const {
  return sizeof(*this) + place.capacity() + requests.size() * sizeof(ForkedAllele);
}

void plan_variants(const SitePlanner& planner, std::span<const PlacedVariant> variants,
                   ReferenceReader& reference, const std::function<void(VariantItem)>& take) {
  std::deque<VariantItem> items;
  std::vector<PlacedSite> sites;
  for (size_t i = 0; i < variants.size(); ++i) {
    const auto& [contig, written] = variants[i];
    const Variant variant = upper_case(written);
    const ContigReference place{reference, contig, reference.length(contig)};
    std::string fasta_bases;
    const RecordCheck check = check_reference(variant, place, fasta_bases);
    items.push_back({i,
                     contig + ":" + std::to_string(variant.pos + 1),
                     variant.alts.size(),
                     check,
                     planner.classify(variant, check, place),
                     {}});
    sites.push_back({&items.back().site, place});
  }
  planner.plan(sites, [&](size_t i) {
    items[i].requests = std::move(items[i].site.requests);
    take(std::move(items[i]));
  });
}

VariantScores variant_scores(const SitePlanner& planner, const VariantItem& item) {
  VariantScores out;
  out.values = planner.values(item.site, item.place);
  for (size_t i = 0; i < item.alts; ++i) out.flags.push_back(value_flag(item.site, i, out.values));
  return out;
}

void score_variants(Engine& engine, const IndexedFasta& fasta, const SitePlanner& planner,
                    std::span<const PlacedVariant> variants,
                    const std::function<void(size_t, const VariantScores&)>& take) {
  run_ordered<VariantItem>(
      engine,
      [&](const std::function<void(VariantItem)>& emit) {
        ReferenceReader reference(fasta);
        plan_variants(planner, variants, reference, emit);
      },
      [&](const VariantItem& item) { take(item.index, variant_scores(planner, item)); });
}

}  // namespace carbon
