// The work of a forward pass: operations and bytes, counted from the shapes. Pure functions.
#pragma once

#include <cstddef>
#include <span>

#include "kernels/tensor.hpp"
#include "src/model/config.hpp"

namespace carbon {

/// Floating-point operations (a multiply-add counts as two), and bytes that must be read from memory.
struct PassWork {
  double flops = 0, bytes = 0;

  PassWork& operator+=(const PassWork& other) {
    flops += other.flops;
    bytes += other.bytes;
    return *this;
  }
};

/// Bytes of a weight of int8, with its share of a scale.
inline constexpr double kInt8WeightBytes =
    static_cast<double>(weight_bytes(WeightType::q8_0, kQ8Block)) / kQ8Block;

/// Sizes of weights and KV cache in memory.
struct WorkUnits {
  double weight_bytes = 2;  // per element of a weight, with its share of a scale
  size_t cache_bytes = 2;   // per element of a key or value
};

/// New tokens of one sequence after `past` earlier ones; the last `wanted` rows go through the head.
struct WorkChunk {
  size_t past = 0, tokens = 0, wanted = 0;
};

/// Elements of all matrices and vectors of the model.
double parameters(const ModelConfig& config);
/// Elements of the matrices that a forward pass reads. Embeddings do not count, and of the head only the
/// 4,096 rows of 6-mers.
double read_parameters(const ModelConfig& config);

/// The work of one forward pass over the chunks, and of its head. Matrix products and attention are counted;
/// operations that are linear in the width are not. In the last layer, rows that are not wanted only have
/// their keys and values computed. Weights are read once, and so are the keys and values of each chunk's
/// sequence.
PassWork forward_work(const ModelConfig& config, const WorkUnits& units, std::span<const WorkChunk> chunks);

}  // namespace carbon
