// From a variant to the requests of its windows, and from their results to its scores, by all recipes of a
// run. The variants come from records (planner.hpp) or from memory (variant_scores.hpp).
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "src/vep/recipe.hpp"
#include "src/vep/site.hpp"

namespace carbon {

/// Compares REF with the FASTA. `fasta_bases` becomes what the FASTA has there.
RecordCheck check_reference(const Variant& variant, const ContigReference& reference,
                            std::string& fasta_bases);

class SitePlanner {
 public:
  /// `cache` may be null. `means`: mean hidden states are wanted, too, which recipe centered has; those of
  /// `pool` k-mers from the first that the model reads differently, or of the windows if it is 0.
  SitePlanner(RecipeList recipes, const TokenLayout& layout, ScoreCache* cache, bool means = false,
              size_t pool = 0)
      : recipes_(std::move(recipes)), with_{layout, cache, means, pool} {}

  const RecipeList& recipes() const { return recipes_; }
  /// The number of scores of an ALT.
  size_t tag_count() const;
  /// Whether sites that are planned together share windows.
  bool shares_windows() const;

  /// Decides for each ALT and recipe whether it can be scored, and makes the normal forms of those that can.
  VepSite classify(const Variant& variant, RecordCheck check, const ContigReference& reference) const;
  /// The contig bases that the windows of the site's alleles can need.
  BaseRange reach(const VepSite& site, const ContigReference& reference) const;

  /// Makes the windows of the sites and their requests, and calls `ready` with the number of each site, in
  /// order, when it has all of its own. Sites share windows within this call only. Requests are to be run in
  /// the order in which they come, with all parents before their children. Throws Error if the reference
  /// cannot be read.
  void plan(std::span<const PlacedSite> sites, const std::function<void(size_t)>& ready) const;

  /// The scores of a site whose requests are finished, as are those of the sites that it shares windows with.
  /// Scores that were not found in the cache are added to it. Throws Error naming `place` (contig:pos) for a
  /// score that is not finite as a float.
  SiteValues values(const VepSite& site, const std::string& place) const;
  /// The mean hidden states of the alleles of the first recipe, in their order: the mean over strands of the
  /// means over phases; none of an allele whose windows have no k-mer to read. Throws Error as values() does.
  std::vector<std::optional<AlleleMeans>> means(const VepSite& site, const std::string& place) const;

 private:
  RecipeList recipes_;
  Planning with_;
};

}  // namespace carbon
