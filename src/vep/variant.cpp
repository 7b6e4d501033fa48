#include "src/vep/variant.hpp"

#include <algorithm>
#include <iterator>

namespace carbon {
namespace {

constexpr const char* kFlagNames[kAlleleFlags] = {"",          "no_contig",    "edge",          "symbolic",
                                                  "star",      "non_acgt",     "ref_mismatch",  "too_long",
                                                  "multibase", "not_in_table", "changes_length"};

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

std::string_view ReferenceSlice::get(int64_t from, int64_t to) const {
  from = std::max<int64_t>(from, 0);
  to = std::min(to, contig_length);
  if (from >= to) return {};
  return std::string_view(bases).substr(static_cast<size_t>(from - begin), static_cast<size_t>(to - from));
}

const char* flag_name(AlleleFlag flag) {
  return kFlagNames[static_cast<int>(flag)];
}

std::optional<AlleleFlag> flag_of(const std::string& name) {
  const auto found = std::find(std::begin(kFlagNames), std::end(kFlagNames), name);
  if (name.empty() || found == std::end(kFlagNames)) return std::nullopt;
  return static_cast<AlleleFlag>(found - std::begin(kFlagNames));
}

const char* flag_meaning(AlleleFlag flag) {
  static constexpr const char* meanings[kAlleleFlags] = {"",
                                                         "the FASTA lacks the contig",
                                                         "beyond an end of the contig",
                                                         "not given as bases",
                                                         "a deletion that spans the site",
                                                         "letters other than A, C, G and T",
                                                         "REF differs from the FASTA",
                                                         "longer than the recipe scores",
                                                         "more than one base",
                                                         "the tables do not have it",
                                                         "of another length than REF"};
  return meanings[static_cast<int>(flag)];
}

RecordCheck check_record(const Variant& variant, int64_t contig_length, const ReferenceSlice& reference) {
  const auto ref_length = static_cast<int64_t>(variant.ref.size());
  if (contig_length < 0) return RecordCheck::no_contig;
  if (variant.pos < 0 || variant.pos >= contig_length || ref_length > contig_length - variant.pos)
    return RecordCheck::edge;
  const std::string_view fasta = reference.get(variant.pos, variant.pos + ref_length);
  if (variant.ref == "N" && is_acgt(fasta)) return RecordCheck::open;
  if (!is_acgt(variant.ref) || !is_acgt(fasta)) return RecordCheck::non_acgt;
  return fasta == variant.ref ? RecordCheck::matches : RecordCheck::mismatch;
}

AlleleFlag classify_allele(const std::string& alt, RecordCheck check) {
  if (check == RecordCheck::no_contig) return AlleleFlag::no_contig;
  if (check == RecordCheck::edge) return AlleleFlag::edge;
  // <DEL>, <*>, <NON_REF>; breakends G]17:198982], [13:123457[C; single breakends G. and .G
  const bool breakend = alt.find_first_of("[]") != std::string::npos ||
                        (alt.size() > 1 && (alt.front() == '.' || alt.back() == '.'));
  if (alt.empty() || alt.front() == '<' || breakend) return AlleleFlag::symbolic;
  if (alt == "*") return AlleleFlag::star;
  if (check == RecordCheck::non_acgt || check == RecordCheck::open || !is_acgt(alt))
    return AlleleFlag::non_acgt;
  if (check == RecordCheck::mismatch) return AlleleFlag::ref_mismatch;
  return AlleleFlag::scored;
}

AlleleFlag classify_structural(const StructuralAllele& allele, const Variant& variant, int64_t contig_length,
                               RecordCheck check) {
  if (check == RecordCheck::no_contig) return AlleleFlag::no_contig;
  if (check == RecordCheck::edge || allele.length >= contig_length - variant.pos) return AlleleFlag::edge;
  if (check == RecordCheck::non_acgt) return AlleleFlag::non_acgt;
  return check == RecordCheck::mismatch ? AlleleFlag::ref_mismatch : AlleleFlag::scored;
}

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
