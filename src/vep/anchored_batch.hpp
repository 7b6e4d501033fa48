// Shares reference windows between the anchored alleles of many sites.
//
// Sites that follow one another in the input are planned together: alleles of one strand and phase whose
// windows begin at one base get one request for the reference, as long as the farthest of them needs, of
// which each runs only its suffix. For sorted input that is nearly all that can be shared. A window that was
// left behind is not waited for, so that keys and values are not kept for long in unsorted input; a later
// allele then gets a window of its own. No score depends on what is shared.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "src/vep/anchored.hpp"
#include "src/vep/options.hpp"
#include "src/vep/site.hpp"

namespace carbon {

class AnchoredBatch {
 public:
  /// `cache` may be null. The options must outlive the batch.
  AnchoredBatch(const VepOptions& options, const TokenLayout& layout, ScoreCache* cache)
      : options_(options), layout_(layout), cache_(cache) {}

  /// Notes the anchored alleles that classify_alleles() found in `site`, which must stay where it is until
  /// plan(), as must what `reference` refers to.
  void add(VepSite& site, const ContigReference& reference);
  /// Adds plans and requests to the sites noted so far, and forgets them. Taken in the order of add(), the
  /// sites have each parent before its children.
  void plan();

 private:
  /// An allele in one phase on one strand.
  struct Member {
    VepSite* site;
    ScoredAllele* allele;
    size_t strand, term;  // place in ScoredAllele::strands
    NormalAllele form;
    AnchoredPlace place;
  };
  /// The alleles that share a window.
  struct Group {
    ContigReference reference;
    Strand strand;
    int phase;
    int64_t start;
    std::vector<Member> members;
  };

  Group& group_for(const ContigReference& reference, Strand strand, int phase, int64_t start);
  void plan(const Group& group);
  AnchoredPlan plan(const Group& group, const Member& member, const ReferenceSlice& strand,
                    const std::shared_ptr<const AnchoredWindow>& window);
  void add_requests(const Group& group, std::vector<AnchoredPlan>& plans, AnchoredWindow& window) const;

  const VepOptions& options_;
  TokenLayout layout_;
  ScoreCache* cache_;
  std::deque<Group> groups_;
  std::vector<Group*> open_[2][kPhases];  // by strand and phase; the last one was begun last
};

/// The contig bases that the windows of an allele can need; `form` is its normal form.
StrandRange anchored_reach(const NormalAllele& form, const VepOptions& options,
                           const ContigReference& reference);

}  // namespace carbon
