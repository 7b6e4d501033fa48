// What the output heads make of one row of logits: base marginals and log-sum-exp. Pure functions, no
// threads.
#pragma once

#include <cstddef>

#include "kernels/cpu/kernels.hpp"

namespace carbon::cpu {

/// ln P_j(b), [6, 4], from the 4,096 k-mer logits `z` (first base most significant). `scratch` holds 4,096
/// floats. NaN everywhere when a logit is not finite; a finite result for every finite row, however skewed.
void row_marginals(const Kernels& kernels, const float* z, float* scratch, double* out);

/// Adds the n logits of a vocabulary slice to the running (maximum, sum). `scratch` holds kLogsumexpTile
/// floats. The slice is walked in tiles of kLogsumexpTile from its first logit, so the last bits depend on
/// where slices begin: callers that promise equal bits use the same slices every time.
inline constexpr size_t kLogsumexpTile = 1024;
void row_logsumexp(const Kernels& kernels, const float* z, size_t n, float* scratch, double* maximum,
                   double* sum);

}  // namespace carbon::cpu
