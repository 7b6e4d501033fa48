// A variant, the reference bases around it, and why an allele cannot be scored.
//
// Pure functions: the caller supplies the reference bases. Coordinates are 0-based on the contig.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/kmer.hpp"

namespace carbon {

/// Upper-case REF and ALTs at a position; pos is -1 for POS 0.
struct Variant {
  int64_t pos = 0;
  std::string ref;
  std::vector<std::string> alts;
};

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
  multibase
};
inline constexpr int kAlleleFlags = 9;
/// "" for scored, else the text of CARBON_FLAG.
const char* flag_name(AlleleFlag flag);

/// The result of comparing a record with the reference; it holds for all alleles of the record.
enum class RecordCheck { matches, no_contig, edge, non_acgt, mismatch };

/// `contig_length` < 0: not in the FASTA. `reference` holds [pos, pos + |REF|) where it exists.
RecordCheck check_record(const Variant& variant, int64_t contig_length, const ReferenceSlice& reference);

/// The first reason that holds for every recipe; `scored` if there is none.
AlleleFlag classify_allele(const std::string& alt, RecordCheck check);

enum class Strand { forward, reverse };

}  // namespace carbon
