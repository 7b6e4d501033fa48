// Log-likelihood ratios of variants in memory, as `carbon vep` computes them, without VCF files.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "src/engine/engine.hpp"
#include "src/formats/fasta.hpp"
#include "src/vep/site_planner.hpp"

namespace carbon {

/// A variant on a contig of the reference; letters of any case.
struct PlacedVariant {
  std::string contig;
  Variant variant;
};

struct VariantScores {
  /// For each tag of the recipes one score per ALT. Nats, alternative minus reference, the mean of the
  /// strands: exactly the number that `carbon vep` rounds to a float. NaN where it is missing.
  SiteValues values;
  /// One per ALT: why its first missing score is missing. flag_name() has the text of the VCF.
  std::vector<AlleleFlag> flags;
};

/// A variant on its way to its scores.
struct VariantItem {
  size_t index = 0;                          // among the variants that were planned together
  std::string place;                         // contig:pos, 1-based, for messages
  size_t alts = 0;                           // how many alternatives it has
  RecordCheck check = RecordCheck::matches;  // of REF with the reference
  VepSite site;
  std::vector<RequestPtr> requests;  // a parent may belong to an item before this one

  size_t bytes() const;
};

/// Calls `take` for each variant, in order. It has read all of them when it calls `take` for the first time.
/// For what they share, the order of requests and errors see SitePlanner::plan().
void plan_variants(const SitePlanner& planner, std::span<const PlacedVariant> variants,
                   ReferenceReader& reference, const std::function<void(VariantItem)>& take);

/// The scores of a variant whose requests are finished; see SitePlanner::values().
VariantScores variant_scores(const SitePlanner& planner, const VariantItem& item);

/// Calls `take`, in another thread, with the index and scores of each variant, in order. Throws Error.
void score_variants(Engine& engine, const IndexedFasta& fasta, const SitePlanner& planner,
                    std::span<const PlacedVariant> variants,
                    const std::function<void(size_t, const VariantScores&)>& take);

}  // namespace carbon
