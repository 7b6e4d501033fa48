#include "src/vep/variant_scores.hpp"

#include "src/engine/ordered_writer.hpp"

namespace carbon {

void score_variants(Engine& engine, const IndexedFasta& fasta, const VepOptions& options,
                    std::span<const PlacedVariant> variants,
                    const std::function<void(size_t, const VariantScores&)>& take) {
  const VariantPlanner planner(engine.config(), options);
  run_ordered<VariantItem>(
      engine,
      [&](const std::function<void(VariantItem)>& emit) {
        ReferenceReader reference(fasta);
        planner.plan(variants, reference, emit);
      },
      [&](const VariantItem& item) { take(item.index, planner.read(item)); });
}

}  // namespace carbon
