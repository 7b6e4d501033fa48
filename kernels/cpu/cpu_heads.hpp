// What the heads compute from one row of logits: marginals and conditionals of bases, and log-sum-exp. Pure
// functions without threads.
#pragma once

#include <cstddef>

#include "kernels/cpu/kernels.hpp"
#include "kernels/ops.hpp"

namespace carbon::cpu {

/// out [6, 4] = ln P_j(b) from the logits `z` of the 4,096 6-mers, in 6-mer order. `scratch` has 4,096
/// floats. All results are NaN if a logit is not finite, and finite otherwise, even for probabilities too
/// small for a float.
void row_marginals(const Kernels& kernels, const float* z, float* scratch, double* out);

/// out [6, 4] = ln P(base j is b | the known bases before it); the rest as for row_marginals().
void row_conditionals(const Kernels& kernels, const float* z, ops::KnownBases known, float* scratch,
                      double* out);

/// Updates (maximum, sum) with the n logits of a slice of the vocabulary. `scratch` has kLogsumexpTile
/// floats. The slice is taken in tiles from its first logit, so the last bits depend on where slices begin: a
/// caller that promises equal bits must always use the same slices.
inline constexpr size_t kLogsumexpTile = 1024;
void row_logsumexp(const Kernels& kernels, const float* z, size_t n, float* scratch, double* maximum,
                   double* sum);

}  // namespace carbon::cpu
