// Checkpoints of the published shapes with random weights, for measurements of speed. No file is written.
//
// The matrices of a large model repeat the same gibibyte of random numbers, which is in memory once and is
// mapped into the address space many times. A gibibyte is larger than every cache, so the speed is that of
// distinct weights, but the 8B shape needs little memory beside what the backend itself allocates.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/model/checkpoint.hpp"

namespace carbon {

/// The names of the shapes: 500M, 3B and 8B of Carbon, and marin, which is that of MarinDNA m5.1.
std::vector<std::string> synthetic_shapes();
/// The configuration of a shape. Throws Error for an unknown name.
ModelConfig synthetic_config(const std::string& shape);

/// Bytes of memory that the tensors of synthetic_checkpoint() take.
uint64_t synthetic_bytes(const ModelConfig& config);

/// A checkpoint of bf16 tensors: norm weights are 1, and the elements of matrices have random signs and
/// magnitudes from 2^-6 to 2^-5.
Checkpoint synthetic_checkpoint(const std::string& shape, const std::optional<RopeScaling>& rope_scaling);

}  // namespace carbon
