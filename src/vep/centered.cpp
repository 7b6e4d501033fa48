#include "src/vep/centered.hpp"

#include <algorithm>

#include "tokenizer/kmer.hpp"

namespace carbon {
namespace {

struct Range {
  int64_t begin = 0, end = 0;
};

// The reference window on the contig.
Range forward_range(int64_t pos, int64_t window, int phase) {
  const int64_t start = pos - window / 2;  // before it is clipped to the contig
  return {std::max<int64_t>(start, 0) + phase, start + phase + window};
}

// `allele_end` is the base after REF, which lies at the same distance from the window's first base as the
// variant's first base does on the forward strand.
Range reverse_range(int64_t allele_end, int64_t contig_length, int64_t window, int phase) {
  const int64_t start = allele_end - 1 + window / 2;
  return {start - window - phase, std::min(start, contig_length) - phase};
}

CenteredWindows forward_windows(std::span<const NormalAllele> alleles, const ReferenceSlice& slice,
                                int64_t window, int phase) {
  const int64_t pos = alleles.front().pos;
  const Range range = forward_range(pos, window, phase);
  CenteredWindows out;
  out.reference = slice.get(range.begin, range.end);
  const std::string_view before = slice.get(range.begin, pos);
  for (const NormalAllele& allele : alleles) {
    const auto missing =
        static_cast<int64_t>(out.reference.size()) - static_cast<int64_t>(before.size() + allele.alt.size());
    std::string sequence(before);
    sequence += allele.alt;
    sequence += slice.get(allele.end(), allele.end() + std::max<int64_t>(missing, 0));
    sequence.resize(std::min(sequence.size(), out.reference.size()));
    out.alternatives.push_back(std::move(sequence));
  }
  return out;
}

CenteredWindows reverse_windows(std::span<const NormalAllele> alleles, const ReferenceSlice& slice,
                                int64_t window, int phase) {
  const int64_t end = alleles.front().end();
  const Range range = reverse_range(end, slice.contig_length, window, phase);
  CenteredWindows out;
  out.reference = reverse_complement(slice.get(range.begin, range.end));
  const std::string right = reverse_complement(slice.get(end, range.end));
  for (const NormalAllele& allele : alleles) {
    const auto missing =
        static_cast<int64_t>(out.reference.size()) - static_cast<int64_t>(right.size() + allele.alt.size());
    std::string sequence = right + reverse_complement(allele.alt);
    sequence += reverse_complement(slice.get(allele.pos - std::max<int64_t>(missing, 0), allele.pos));
    sequence.resize(std::min(sequence.size(), out.reference.size()));
    out.alternatives.push_back(std::move(sequence));
  }
  return out;
}

}  // namespace

int64_t centered_place(const NormalAllele& allele, Strand strand) {
  return strand == Strand::forward ? allele.pos : allele.end();
}

bool centered_has_phase(const NormalAllele& allele, int64_t contig_length, int64_t window, Strand strand,
                        int phase) {
  if (phase == 0) return true;
  if (strand == Strand::forward) return forward_range(allele.pos, window, phase).begin <= allele.pos;
  return reverse_range(allele.end(), contig_length, window, phase).end >= allele.end();
}

CenteredWindows centered_windows(std::span<const NormalAllele> alleles, const ReferenceSlice& slice,
                                 int64_t window, Strand strand, int phase) {
  return strand == Strand::forward ? forward_windows(alleles, slice, window, phase)
                                   : reverse_windows(alleles, slice, window, phase);
}

}  // namespace carbon
