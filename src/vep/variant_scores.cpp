#include "src/vep/variant_scores.hpp"

#include <utility>

#include "src/engine/ordered_writer.hpp"
#include "src/vep/site.hpp"

namespace carbon {
namespace {

Variant upper_case(const Variant& variant) {
  Variant out{variant.pos, to_upper(variant.ref), {}};
  for (const std::string& alt : variant.alts) out.alts.push_back(to_upper(alt));
  return out;
}

// A variant on its way through the run.
struct Item {
  size_t index = 0;
  VepSite site;
  std::vector<RequestPtr> requests;

  size_t bytes() const { return sizeof(*this) + requests.size() * sizeof(CenteredPlan); }
};

Item plan(size_t index, const PlacedVariant& placed, const ContigReference& reference,
          const VepOptions& options, const TokenLayout& layout) {
  const Variant variant = upper_case(placed.variant);
  Item item;
  item.index = index;
  std::string fasta_bases;
  const RecordCheck check = check_reference(variant, reference, options, fasta_bases);
  classify_alleles(variant, check, options, reference, item.site);
  if (item.site.any_scored())
    plan_alleles(fetch_windows(item.site, options, reference), options, layout, nullptr, item.site);
  item.requests = item.site.requests;
  return item;
}

VariantScores finished(const VepSite& site, const PlacedVariant& placed) {
  SiteValues values =
      site_values(site, placed.contig + ":" + std::to_string(placed.variant.pos + 1), nullptr);
  VariantScores out;
  out.values = std::move(values.centered.empty() ? values.next_token : values.centered);
  for (size_t i = 0; i < placed.variant.alts.size(); ++i) out.flags.push_back(site.flag(i));
  return out;
}

}  // namespace

void score_variants(Engine& engine, const IndexedFasta& fasta, const VepOptions& options,
                    std::span<const PlacedVariant> variants,
                    const std::function<void(size_t, const VariantScores&)>& take) {
  check_vep_options(options, engine.config().max_positions);
  run_ordered<Item>(
      engine,
      [&](const std::function<void(Item)>& emit) {
        ReferenceReader reader(fasta);
        for (size_t i = 0; i < variants.size(); ++i) {
          const std::string& contig = variants[i].contig;
          emit(plan(i, variants[i], {reader, contig, fasta.length(contig)}, options, engine.config().layout));
        }
      },
      [&](const Item& item) { take(item.index, finished(item.site, variants[item.index])); });
}

}  // namespace carbon
