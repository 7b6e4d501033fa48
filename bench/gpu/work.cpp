#include "bench/gpu/work.hpp"

#include "kernels/ops.hpp"

namespace carbon::gpu_bench {

Work forward_work(const ModelConfig& config, size_t sequences, size_t before, size_t tokens) {
  const auto layers = static_cast<double>(config.layers), hidden = static_cast<double>(config.hidden);
  const auto q_width = static_cast<double>(config.heads * config.head_dim);
  const auto kv_width = static_cast<double>(config.kv_heads * config.head_dim);
  const auto n = static_cast<double>(tokens), past = static_cast<double>(before);
  // q and o; k and v; gate, up and down.
  const double layer = hidden * (2 * q_width + 2 * kv_width + 3 * static_cast<double>(config.intermediate));
  const double weights = layers * layer + static_cast<double>(ops::kKmers) * hidden;
  const double seen = n * past + n * (n + 1) / 2;  // keys, summed over the new tokens
  Work work;
  // Attention: a product with the key and one with the value.
  work.operations = static_cast<double>(sequences) * (2 * weights * n + layers * 4 * q_width * seen);
  work.bytes = 2 * weights + static_cast<double>(sequences) * layers * 2 * kv_width * 2 * (past + n);
  return work;
}

}  // namespace carbon::gpu_bench
