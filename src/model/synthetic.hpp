// Checkpoints of the published shapes with random weights, in memory: what `carbon bench --synthetic` runs.
//
// No file is written. The matrices of a large model repeat a gibibyte of random numbers, which lies in memory
// once and in the address space as often as it takes: far apart enough that no cache profits, so the
// speed is that of distinct weights, and the 8B shape needs little more memory than what is computed with.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/model/checkpoint.hpp"

namespace carbon {

/// 500M, 3B, 8B.
std::vector<std::string> synthetic_shapes();
/// Throws Error for a name that is none of them.
ModelConfig synthetic_config(const std::string& shape);

/// Bytes that the tensors of synthetic_checkpoint() take.
uint64_t synthetic_bytes(const ModelConfig& config);

/// bf16 tensors: norms are 1, matrices uniform in sign and mantissa with magnitudes from 2^-6 to 2^-5.
Checkpoint synthetic_checkpoint(const std::string& shape, const std::optional<RopeScaling>& rope_scaling);

}  // namespace carbon
