// A variant, the form in which an allele of it is scored, the reference bases around it, and why an allele
// cannot be scored.
//
// Pure functions: the caller supplies the reference bases. Coordinates are 0-based on the contig.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/kmer.hpp"

namespace carbon {

/// What <DEL>, <DUP> (taken for a tandem duplication) or <INV> does with the `length` bases after POS. In
/// place of deleted bases, or between two copies, there may be others.
struct StructuralAllele {
  enum Kind { deletion, duplication, inversion } kind = deletion;
  int64_t length = 0;
  std::string inserted = {};
};

/// Upper-case REF and ALTs at a position; pos is -1 for POS 0.
struct Variant {
  int64_t pos = 0;
  std::string ref;
  std::vector<std::string> alts;
  std::vector<std::optional<StructuralAllele>> structural = {};  // of the ALTs; empty if no ALT is one
};

/// One alternative in the form in which it is scored, which normalise() makes.
struct NormalAllele {
  int64_t pos = 0;
  std::string ref, alt;

  int64_t end() const { return pos + static_cast<int64_t>(ref.size()); }
  bool changes_length() const { return ref.size() != alt.size(); }
  /// Bases of the longer of REF and ALT.
  int64_t length() const { return static_cast<int64_t>(std::max(ref.size(), alt.size())); }
};

/// Bases [begin, end) of a contig, or of its reverse complement.
struct BaseRange {
  int64_t begin = 0, end = 0;

  /// The least range that holds both; `end` before `begin` is nothing.
  BaseRange with(const BaseRange& other) const {
    if (end < begin) return other;
    return {std::min(begin, other.begin), std::max(end, other.end)};
  }
};
inline constexpr BaseRange kNoBases{0, -1};

/// Upper-case contig bases [begin, begin + bases.size()), with the contig's length for clipping.
struct ReferenceSlice {
  int64_t begin = 0;
  int64_t contig_length = 0;
  std::string bases;

  /// Bases [from, to) of the contig, clipped to it (empty when from >= to); the slice must hold them.
  std::string_view get(int64_t from, int64_t to) const;
};

/// Why an allele is not scored. The first reason that applies is reported, in this order
/// (docs/conventions.md, "Variant scores").
enum class AlleleFlag {
  scored,
  no_contig,
  edge,
  symbolic,
  star,
  non_acgt,
  ref_mismatch,
  too_long,
  multibase,
  not_in_table,
  changes_length
};
inline constexpr int kAlleleFlags = 11;
/// "" for scored, else the text of CARBON_FLAG.
const char* flag_name(AlleleFlag flag);
/// The reason that CARBON_FLAG gives; nothing for a text that is none.
std::optional<AlleleFlag> flag_of(const std::string& name);
/// The same in a few words, for people.
const char* flag_meaning(AlleleFlag flag);

/// The result of comparing a record with the reference; it holds for all alleles of the record. REF is open
/// if it is N where the FASTA has a base, as many programs write it beside structural alleles.
enum class RecordCheck { matches, no_contig, edge, open, non_acgt, mismatch };

/// `contig_length` < 0: not in the FASTA. `reference` holds [pos, pos + |REF|) where it exists.
RecordCheck check_record(const Variant& variant, int64_t contig_length, const ReferenceSlice& reference);

/// The first reason that holds for every recipe and for the ALT as it is written; `scored` if there is none.
AlleleFlag classify_allele(const std::string& alt, RecordCheck check);
/// The same for a structural allele, without the letters that it stands for.
AlleleFlag classify_structural(const StructuralAllele& allele, const Variant& variant, int64_t contig_length,
                               RecordCheck check);

enum class Strand { forward, reverse };

/// The form in which an allele is scored: as `bcftools norm -f` writes it when it is the only one of its
/// record. All spellings of a variant have the same form.
///
/// Bases that both alleles end or begin with are trimmed, down to one base each. An allele that only adds or
/// removes bases is moved to the left as far as the bases before it repeat, and keeps the base before it, or
/// at the beginning of the contig the base after it. Takes time in proportion to the alleles and the way.
///
/// `ref` and `alt` are upper-case and not empty, and `ref` is what the contig has at `pos`. `base(i)` is the
/// upper-case base of the contig at i; it is called for positions before pos + |ref| only.
NormalAllele normalise(int64_t pos, std::string_view ref, std::string_view alt,
                       const std::function<char(int64_t)>& base);

/// The mirror image of normalise(): an allele that only adds or removes bases is moved to the right as far as
/// the bases after it repeat, and keeps the base after it, or at the end of the contig the base before it.
/// `base(i)` is called for positions from allele.pos on only.
NormalAllele right_aligned(const NormalAllele& allele, int64_t contig_length,
                           const std::function<char(int64_t)>& base);

}  // namespace carbon
