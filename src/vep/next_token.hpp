// Recipe `next-token`: the left context of a variant, whose last row gives P_0 of the next base (docs/conventions.md,
// "Next-token context"; published for ClinVar with 24,000 bp: docs/model.md, "Published evaluations").
//
// Pure functions; scoring is elsewhere.
#pragma once

#include <string>

#include "src/vep/variant.hpp"

namespace carbon {

inline constexpr int64_t kDefaultContext = 24000;  // bp

/// Contig range that holds the context of a one-base variant at `pos`.
inline int64_t next_token_begin(int64_t pos, int64_t context, Strand strand) {
  return strand == Strand::forward ? pos - context : pos + 1;
}
inline int64_t next_token_end(int64_t pos, int64_t context, Strand strand) {
  return strand == Strand::forward ? pos : pos + 1 + context;
}

/// The context in reading direction: leading N's dropped, then length % 6 bases dropped from the left. Its
/// length is a multiple of 6 and may be 0.
std::string next_token_context(int64_t pos, const ReferenceSlice& slice, int64_t context, Strand strand);

}  // namespace carbon
