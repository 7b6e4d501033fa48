#include "src/vep/centered.hpp"

#include <algorithm>

#include "tokenizer/kmer.hpp"

namespace carbon {
namespace {

CenteredWindows forward_windows(int64_t pos, const std::string& ref, const std::vector<std::string>& alts,
                                const ReferenceSlice& slice, int64_t window) {
  const int64_t start = pos - window / 2;  // of the window before it is clipped to the contig
  CenteredWindows out;
  out.reference = slice.get(start, start + window);
  const std::string_view before = slice.get(start, pos);
  const auto after = pos + static_cast<int64_t>(ref.size());
  for (const std::string& alt : alts) {
    const auto missing =
        static_cast<int64_t>(out.reference.size()) - static_cast<int64_t>(before.size() + alt.size());
    std::string sequence(before);
    sequence += alt;
    sequence += slice.get(after, after + std::max<int64_t>(missing, 0));
    sequence.resize(std::min(sequence.size(), out.reference.size()));
    out.alternatives.push_back(std::move(sequence));
  }
  return out;
}

CenteredWindows reverse_windows(int64_t pos, const std::string& ref, const std::vector<std::string>& alts,
                                const ReferenceSlice& slice, int64_t window) {
  const int64_t q0 = pos + window / 2;
  CenteredWindows out;
  out.reference = reverse_complement(slice.get(q0 - window, q0));
  const std::string right = reverse_complement(slice.get(pos + static_cast<int64_t>(ref.size()), q0));
  for (const std::string& alt : alts) {
    const auto missing =
        static_cast<int64_t>(out.reference.size()) - static_cast<int64_t>(right.size() + alt.size());
    std::string sequence = right + reverse_complement(alt);
    sequence += reverse_complement(slice.get(pos - std::max<int64_t>(missing, 0), pos));
    sequence.resize(std::min(sequence.size(), out.reference.size()));
    out.alternatives.push_back(std::move(sequence));
  }
  return out;
}

}  // namespace

bool centered_too_long(const std::string& ref, const std::string& alt, int64_t window) {
  return static_cast<int64_t>(std::max(ref.size(), alt.size())) > window / 2;
}

CenteredWindows centered_windows(int64_t pos, const std::string& ref, const std::vector<std::string>& alts,
                                 const ReferenceSlice& slice, int64_t window, Strand strand) {
  return strand == Strand::forward ? forward_windows(pos, ref, alts, slice, window)
                                   : reverse_windows(pos, ref, alts, slice, window);
}

}  // namespace carbon
