// How much a forward pass has to do: operations and bytes, counted from the shapes. Pure.
#pragma once

#include <cstddef>
#include <span>

#include "src/engine/request.hpp"
#include "src/model/config.hpp"

namespace carbon {

/// Floating-point operations, two a multiply-add, and bytes that must be read from memory.
struct Work {
  double flops = 0, bytes = 0;

  Work& operator+=(const Work& other) {
    flops += other.flops;
    bytes += other.bytes;
    return *this;
  }
};

/// What decides the size of weights and cache in memory.
struct WorkUnits {
  size_t weight_bytes = 2;  // of one element as it is read
  size_t cache_bytes = 2;   // of one element of a key or value
};

/// New tokens of one sequence behind `past` others; the last `wanted` rows go through the head.
struct WorkChunk {
  size_t past = 0, tokens = 0, wanted = 0;
};

/// Elements of all matrices and vectors of the model.
double parameters(const ModelConfig& config);
/// Elements of the matrices that a forward pass reads: of embedding and head only the 4,096 rows of 6-mers of
/// the head.
double read_parameters(const ModelConfig& config);

/// One forward pass over the chunks and its head. Matrix products and attention count, nothing that is linear
/// in the width. In the last layer only wanted rows go beyond keys and values. Weights are read once, and so
/// are the keys and values of each chunk's sequence.
Work forward_work(const ModelConfig& config, const WorkUnits& units, std::span<const WorkChunk> chunks);

/// Requests of which those without a parent make one pass and those with one a second pass.
Work requests_work(const ModelConfig& config, const WorkUnits& units, std::span<const RequestPtr> requests);

}  // namespace carbon
