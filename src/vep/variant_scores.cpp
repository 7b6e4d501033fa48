#include "src/vep/variant_scores.hpp"

#include <deque>
#include <utility>

#include "src/engine/ordered_writer.hpp"
#include "src/vep/anchored_batch.hpp"

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

// Decides which alleles of a variant are scored.
void check(const PlacedVariant& placed, const ContigReference& reference, const VepOptions& options,
           size_t max_positions, VepSite& site) {
  const Variant variant = upper_case(placed.variant);
  std::string fasta_bases;
  const RecordCheck result = check_reference(variant, reference, options, fasta_bases);
  classify_alleles(variant, result, options, max_positions, reference, site);
}

VariantScores finished(const VepSite& site, const VepOptions& options, const PlacedVariant& placed) {
  VariantScores out;
  out.values =
      site_values(site, options, placed.contig + ":" + std::to_string(placed.variant.pos + 1), nullptr);
  for (size_t i = 0; i < placed.variant.alts.size(); ++i) out.flags.push_back(site.flag(i));
  return out;
}

}  // namespace

void score_variants(Engine& engine, const IndexedFasta& fasta, const VepOptions& options,
                    std::span<const PlacedVariant> variants,
                    const std::function<void(size_t, const VariantScores&)>& take) {
  check_vep_options(options, engine.config().max_positions);
  const ModelConfig& config = engine.config();
  run_ordered<Item>(
      engine,
      [&](const std::function<void(Item)>& emit) {
        ReferenceReader reader(fasta);
        AnchoredBatch anchored(options, config.layout, nullptr);
        std::deque<Item> items;
        for (size_t i = 0; i < variants.size(); ++i) {
          const std::string& contig = variants[i].contig;
          const ContigReference reference{reader, contig, fasta.length(contig)};
          Item& item = items.emplace_back();
          item.index = i;
          check(variants[i], reference, options, config.max_positions, item.site);
          anchored.add(item.site, reference);
        }
        anchored.plan();
        for (Item& item : items) {
          const std::string& contig = variants[item.index].contig;
          const ContigReference reference{reader, contig, fasta.length(contig)};
          if (!item.site.centered.alleles.empty() || !item.site.next_token.alleles.empty())
            plan_alleles(fetch_windows(item.site, options, reference), options, config.layout, nullptr,
                         item.site);
          item.requests = std::move(item.site.requests);
          emit(std::move(item));
        }
      },
      [&](const Item& item) { take(item.index, finished(item.site, options, variants[item.index])); });
}

}  // namespace carbon
