// The form in which an allele is scored: as `bcftools norm -f` writes it when it is the only one of its
// record. All spellings of a variant have the same form.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "src/vep/variant.hpp"

namespace carbon {

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
