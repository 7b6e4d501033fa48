#include "src/vep/normalise.hpp"

#include <algorithm>

namespace carbon {
namespace {

// `bases` are inserted before `pos` or removed from there.
NormalAllele shifted_left(int64_t pos, std::string bases, bool insertion,
                          const std::function<char(int64_t)>& base) {
  // The bases are a ring, of which `last` is the end: a step to the left takes the base from the end to the
  // beginning.
  size_t last = bases.size() - 1;
  for (; pos > 0 && base(pos - 1) == bases[last]; --pos) last = last == 0 ? bases.size() - 1 : last - 1;
  std::rotate(bases.begin(), bases.begin() + static_cast<ptrdiff_t>((last + 1) % bases.size()), bases.end());
  NormalAllele out;
  out.pos = std::max<int64_t>(pos - 1, 0);
  std::string longer, kept;
  if (pos > 0) {
    kept = base(pos - 1);
    longer = kept + bases;
  } else {
    kept = base(insertion ? 0 : static_cast<int64_t>(bases.size()));
    longer = bases + kept;
  }
  out.ref = insertion ? kept : longer;
  out.alt = insertion ? longer : kept;
  return out;
}

}  // namespace

NormalAllele normalise(int64_t pos, std::string_view ref, std::string_view alt,
                       const std::function<char(int64_t)>& base) {
  if (ref == alt) return {pos, std::string(ref.substr(0, 1)), std::string(alt.substr(0, 1))};
  while (!ref.empty() && !alt.empty() && ref.back() == alt.back()) {
    ref.remove_suffix(1);
    alt.remove_suffix(1);
  }
  // What is left of a pure insertion or deletion after its end is trimmed has its beginning in common.
  const size_t shorter = std::min(ref.size(), alt.size());
  const size_t common = static_cast<size_t>(
      std::mismatch(ref.begin(), ref.begin() + static_cast<ptrdiff_t>(shorter), alt.begin()).first -
      ref.begin());
  if (common == shorter) {
    ref.remove_prefix(common);
    alt.remove_prefix(common);
    return shifted_left(pos + static_cast<int64_t>(common), std::string(ref.empty() ? alt : ref), ref.empty(),
                        base);
  }
  ref.remove_prefix(common);
  alt.remove_prefix(common);
  return {pos + static_cast<int64_t>(common), std::string(ref), std::string(alt)};
}

NormalAllele right_aligned(const NormalAllele& allele, int64_t contig_length,
                           const std::function<char(int64_t)>& base) {
  const auto mirrored = [](const std::string& bases) { return std::string(bases.rbegin(), bases.rend()); };
  const NormalAllele image =
      normalise(contig_length - allele.end(), mirrored(allele.ref), mirrored(allele.alt),
                [&](int64_t i) { return base(contig_length - 1 - i); });
  return {contig_length - image.end(), mirrored(image.ref), mirrored(image.alt)};
}

}  // namespace carbon
