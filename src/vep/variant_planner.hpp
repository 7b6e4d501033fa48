// Variants in memory: what each of them asks of the model, and its scores from the results. `carbon vep` has
// planner.hpp for the records of a VCF.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "src/engine/request.hpp"
#include "src/model/config.hpp"
#include "src/vep/options.hpp"
#include "src/vep/reference.hpp"
#include "src/vep/site.hpp"
#include "src/vep/variant.hpp"

namespace carbon {

/// A variant on a contig of the reference; letters of any case.
struct PlacedVariant {
  std::string contig;
  Variant variant;
};

struct VariantScores {
  /// For each tag of score_tags() one score per ALT. Nats, alternative minus reference, the mean of the
  /// strands: exactly the number that `carbon vep` rounds to a float. NaN where it is missing.
  SiteValues values;
  /// One per ALT: why its first missing score is missing. flag_name() has the text of the VCF.
  std::vector<AlleleFlag> flags;
};

/// A variant on its way to its scores.
struct VariantItem {
  size_t index = 0;   // among the variants that were planned together
  std::string place;  // contig:pos, 1-based, for messages
  size_t alts = 0;    // how many alternatives it has
  VepSite site;
  std::vector<RequestPtr> requests;  // a parent may belong to an item before this one

  size_t bytes() const { return sizeof(*this) + place.capacity() + requests.size() * sizeof(CenteredPlan); }
};

class VariantPlanner {
 public:
  /// Of `options` it uses recipes, strand, phases and the sizes of windows, contexts and horizons. Throws
  /// Error for a size that does not fit the model.
  VariantPlanner(const ModelConfig& config, const VepOptions& options);

  /// Calls `take` for each variant, in order. Variants that follow one another share the windows of recipe
  /// anchored within this call only; it has planned all of them when it calls `take` for the first time. So
  /// requests are to be run in the order in which they come, with all parents before their children. Throws
  /// Error if the reference cannot be read.
  void plan(std::span<const PlacedVariant> variants, ReferenceReader& reference,
            const std::function<void(VariantItem)>& take) const;

  /// The scores of a variant whose requests are finished, as are those of the items before it that share its
  /// windows. Throws Error for a score that is not finite.
  VariantScores read(const VariantItem& item) const;

 private:
  void classify(const PlacedVariant& placed, const ContigReference& reference, VepSite& site) const;

  TokenLayout layout_;
  size_t max_positions_;
  VepOptions options_;
};

}  // namespace carbon
