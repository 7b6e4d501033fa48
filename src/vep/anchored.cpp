#include "src/vep/anchored.hpp"

#include <algorithm>

#include "src/vep/normalise.hpp"
#include "tokenizer/kmer.hpp"

namespace carbon {

StrandRange mirrored(const StrandRange& range, int64_t contig_length, Strand strand) {
  if (strand == Strand::forward) return range;
  return {contig_length - range.end, contig_length - range.begin};
}

NormalAllele strand_form(const NormalAllele& form, int64_t contig_length, Strand strand,
                         const std::function<char(int64_t)>& base) {
  if (strand == Strand::forward) return right_aligned(form, contig_length, base);
  // The normal form is the leftmost one already.
  return {contig_length - form.end(), reverse_complement(form.ref), reverse_complement(form.alt)};
}

AnchoredPlace anchored_place(int64_t pos, int64_t context, int phase) {
  constexpr auto kmer = static_cast<int64_t>(kKmerLength);
  const int64_t first = (pos - phase) / kmer * kmer;
  const int64_t start = context * std::max<int64_t>(0, first / context - 1);
  return {start + phase, first + phase};
}

int64_t anchored_end(const NormalAllele& allele, int64_t horizon) {
  return allele.pos + allele.length() + horizon;
}

int64_t anchored_bases_end(const NormalAllele& allele, int64_t horizon) {
  const auto removed = static_cast<int64_t>(allele.ref.size()) - static_cast<int64_t>(allele.alt.size());
  return anchored_end(allele, horizon) + std::max<int64_t>(removed, 0);
}

std::string anchored_alternative(const NormalAllele& allele, const AnchoredPlace& place, int64_t horizon,
                                 const ReferenceSlice& strand) {
  const size_t length = strand.get(place.first, anchored_end(allele, horizon)).size();
  std::string bases(strand.get(place.first, allele.pos));
  bases += allele.alt;
  if (bases.size() < length)
    bases += strand.get(allele.end(), allele.end() + static_cast<int64_t>(length - bases.size()));
  bases.resize(std::min(bases.size(), length));
  return bases;
}

int64_t anchored_longest(int64_t context, int64_t horizon, size_t max_positions) {
  // 1 + ceil((2 * context + horizon + longest - 1) / 6) <= max_positions
  const auto bases = static_cast<int64_t>(kKmerLength * (max_positions - 1));
  return bases - 2 * context - horizon + 1;
}

}  // namespace carbon
