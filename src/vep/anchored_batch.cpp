#include "src/vep/anchored_batch.hpp"

#include <algorithm>
#include <limits>

namespace carbon {
namespace {

// So many windows of a strand and phase are continued at a time. The ALTs of a record may lie in two.
constexpr size_t kOpenWindows = 2;

NormalAllele form_on(const NormalAllele& form, Strand strand, const ContigReference& reference) {
  return strand_form(form, reference.length, strand,
                     [&](int64_t i) { return reference.reader.base(reference.contig, reference.length, i); });
}

// Bases of a range on the strand, in the strand's coordinates.
ReferenceSlice strand_slice(const ContigReference& reference, Strand strand, const StrandRange& range) {
  const StrandRange on_contig = mirrored(range, reference.length, strand);
  ReferenceSlice slice = reference.slice(on_contig.begin, on_contig.end);
  if (strand == Strand::forward) return slice;
  slice.begin = std::max<int64_t>(range.begin, 0);
  slice.bases = reverse_complement(slice.bases);
  return slice;
}

// Calls `take` with strand, its number, phase, form and place of everything that an allele is compared in.
template <class Take>
void for_places(const NormalAllele& form, const VepOptions& options, const ContigReference& reference,
                const Take& take) {
  const std::vector<Strand> strands = strands_of(Recipe::anchored, options.strand);
  for (size_t s = 0; s < strands.size(); ++s) {
    const NormalAllele on_strand = form_on(form, strands[s], reference);
    for (int phase = 0; phase < phases_of(form, options.phases); ++phase)
      if (anchored_has_phase(on_strand.pos, phase))
        take(s, strands[s], phase, on_strand, anchored_place(on_strand.pos, options.anchored_context, phase));
  }
}

}  // namespace

StrandRange anchored_reach(const NormalAllele& form, const VepOptions& options,
                           const ContigReference& reference) {
  StrandRange reach{std::numeric_limits<int64_t>::max(), 0};
  for_places(form, options, reference,
             [&](size_t, Strand strand, int, const NormalAllele& on_strand, const AnchoredPlace& place) {
               const int64_t end = anchored_bases_end(on_strand, options.horizons.back());
               const StrandRange range = mirrored({place.start, end}, reference.length, strand);
               reach = {std::min(reach.begin, range.begin), std::max(reach.end, range.end)};
             });
  return reach;
}

void AnchoredBatch::add(VepSite& site, const ContigReference& reference) {
  for (ScoredAllele& allele : site.anchored.alleles) {
    allele.strands.resize(strands_of(Recipe::anchored, options_.strand).size());
    for_places(
        allele.form, options_, reference,
        [&](size_t number, Strand strand, int phase, const NormalAllele& form, const AnchoredPlace& place) {
          // The order of the terms, and so of their sum, must not depend on that of the groups.
          std::vector<ScoredAllele::Term>& terms = allele.strands[number];
          group_for(reference, strand, phase, place.start)
              .members.push_back({&site, &allele, number, terms.size(), form, place});
          terms.emplace_back();
        });
  }
}

AnchoredBatch::Group& AnchoredBatch::group_for(const ContigReference& reference, Strand strand, int phase,
                                               int64_t start) {
  std::vector<Group*>& open = open_[static_cast<int>(strand)][phase];
  for (Group* group : open)
    if (group->start == start && group->reference.contig == reference.contig) return *group;
  groups_.push_back({reference, strand, phase, start, {}});
  if (open.size() == kOpenWindows) open.erase(open.begin());
  open.push_back(&groups_.back());
  return groups_.back();
}

void AnchoredBatch::plan() {
  for (const Group& group : groups_) plan(group);
  groups_.clear();
  for (auto& phases : open_)
    for (std::vector<Group*>& open : phases) open.clear();
}

void AnchoredBatch::plan(const Group& group) {
  const int64_t horizon = options_.horizons.back();
  int64_t end = 0, bases_end = 0;
  for (const Member& member : group.members) {
    end = std::max(end, anchored_end(member.form, horizon));
    bases_end = std::max(bases_end, anchored_bases_end(member.form, horizon));
  }
  const ReferenceSlice strand = strand_slice(group.reference, group.strand, {group.start, bases_end});
  const auto window = std::make_shared<AnchoredWindow>();
  window->bases = strand.get(group.start, end);
  std::vector<AnchoredPlan> plans;
  for (const Member& member : group.members) plans.push_back(plan(group, member, strand, window));
  add_requests(group, plans, *window);
  for (size_t i = 0; i < plans.size(); ++i) {
    const Member& member = group.members[i];
    std::vector<AnchoredPlan>& all = member.site->anchored.plans;
    member.allele->strands[member.strand][member.term].plan = all.size();
    all.push_back(std::move(plans[i]));
  }
}

AnchoredPlan AnchoredBatch::plan(const Group& group, const Member& member, const ReferenceSlice& strand,
                                 const std::shared_ptr<const AnchoredWindow>& window) {
  std::string alternative = anchored_alternative(member.form, member.place, options_.horizons.back(), strand);
  std::vector<size_t> ends;
  for (const int64_t horizon : options_.horizons) {
    const int64_t end = anchored_end(member.form, horizon) - member.place.first;
    ends.push_back(std::min(alternative.size(), static_cast<size_t>(end)));
  }
  const size_t first = static_cast<size_t>(member.place.first - group.start) / kKmerLength;
  return {window, first, std::move(alternative), std::move(ends), group.strand, cache_};
}

// The reference runs as far as those alleles need that have something to compute.
void AnchoredBatch::add_requests(const Group& group, std::vector<AnchoredPlan>& plans,
                                 AnchoredWindow& window) const {
  const auto reference = std::make_shared<Request>();
  size_t end = 0, first_row = std::numeric_limits<size_t>::max();
  for (size_t i = 0; i < plans.size(); ++i) {
    if (!plans[i].computes()) continue;
    std::vector<RequestPtr>& requests = group.members[i].site->requests;
    if (end == 0) requests.push_back(reference);
    end = std::max(end, plans[i].end());
    first_row = std::min(first_row, plans[i].diverge());
    if (const RequestPtr suffix = plans[i].make_suffix(reference, layout_)) requests.push_back(suffix);
  }
  if (end == 0) return;
  reference->tokens = window_tokens(std::string_view(window.bases).substr(0, end), layout_);
  reference->head = HeadKind::marginals;
  reference->want_begin = layout_.lead() + first_row;
  window.reference = reference;
  window.first_row = first_row;
}

}  // namespace carbon
