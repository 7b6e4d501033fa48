// The least that a forward pass must do: its operations, and the bytes that it must move through device
// memory.
#pragma once

#include <cstddef>

#include "src/model/config.hpp"

namespace carbon::gpu_bench {

struct Work {
  double operations = 0;  // a multiply-add is two
  double bytes = 0;
};

/// Of `sequences` sequences that have `before` tokens in the cache and get `tokens` more, with the marginal
/// head on all of the new ones: matrix products, attention over the keys that each token may see, and the
/// 4,096 rows of the head. Weights are read once, cached keys and values are read once and new ones written
/// once, in bf16.
Work forward_work(const ModelConfig& config, size_t sequences, size_t before, size_t tokens);

}  // namespace carbon::gpu_bench
