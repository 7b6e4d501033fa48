#include "src/vep/variant.hpp"

#include <algorithm>

namespace carbon {

std::string_view ReferenceSlice::get(int64_t from, int64_t to) const {
  from = std::max<int64_t>(from, 0);
  to = std::min(to, contig_length);
  if (from >= to) return {};
  return std::string_view(bases).substr(static_cast<size_t>(from - begin), static_cast<size_t>(to - from));
}

const char* flag_name(AlleleFlag flag) {
  static constexpr const char* names[kAlleleFlags] = {"",          "no_contig",   "edge",         "symbolic",
                                                      "star",      "non_acgt",    "ref_mismatch", "too_long",
                                                      "multibase", "not_in_table"};
  return names[static_cast<int>(flag)];
}

const char* flag_meaning(AlleleFlag flag) {
  static constexpr const char* meanings[kAlleleFlags] = {"",
                                                         "the FASTA lacks the contig",
                                                         "beyond the end of the contig",
                                                         "not given as bases",
                                                         "a deletion that spans the site",
                                                         "letters other than A, C, G and T",
                                                         "REF differs from the FASTA",
                                                         "longer than the recipe scores",
                                                         "more than one base",
                                                         "the tables do not have it"};
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

}  // namespace carbon
