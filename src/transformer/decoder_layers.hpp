// The weights of one decoder block, as the backend has prepared them. Only the decoder includes it.
#pragma once

#include <memory>

#include "src/transformer/decoder.hpp"

namespace carbon {

struct Decoder::Layer {
  explicit Layer(ops::Backend& backend)
      : attention_norm(backend), mlp_norm(backend), q_norm(backend), k_norm(backend) {}
  DeviceBuffer attention_norm, mlp_norm;  // [hidden]
  DeviceBuffer q_norm, k_norm;            // [head_dim]; empty without ModelConfig::head_norm
  std::unique_ptr<ops::Weight> qkv;       // [(heads + 2 kv_heads) * head_dim, hidden]
  std::unique_ptr<ops::Weight> q, kv;     // its parts
  std::unique_ptr<ops::Weight> o;         // [hidden, heads * head_dim]
  std::unique_ptr<ops::Weight> gate, up,
      down;  // two of [intermediate, hidden], one of [hidden, intermediate]
};

}  // namespace carbon
