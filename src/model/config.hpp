// config.json and dna_config.json of a checkpoint, checked key by key (contract section 2: a loader never
// guesses).
//
// Facts: carbon_model 2.1 (hyper-parameters), 2.4 (YaRN), 1.8 (files).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tokenizer/kmer.hpp"

namespace carbon {

/// YaRN as transformers >= 4.56 computes it; `factor` 1 and enabled = false is plain RoPE.
struct RopeScaling {
  bool yarn = false;
  double factor = 1.0;
  double original_max_positions = 0;  // tokens
  double beta_fast = 32, beta_slow = 1;
  double attention_factor = 0;  // 0: 0.1 ln(factor) + 1
  bool truncate = true;         // round the ramp's ends to whole dimensions

  bool operator==(const RopeScaling&) const = default;
};

/// Tokens of context: the largest that a configuration may ask for.
inline constexpr size_t kMaxPositions = size_t{1} << 28;

struct ModelConfig {
  size_t hidden = 0;
  size_t layers = 0;
  size_t heads = 0;
  size_t kv_heads = 0;
  size_t head_dim = 0;
  size_t intermediate = 0;
  size_t vocab = 0;
  size_t max_positions = 0;  // tokens
  float rms_eps = 0;
  double rope_theta = 0;
  RopeScaling rope_scaling;
  bool tied_head = false;
  TokenLayout layout;
};

/// Reads and checks DIR/config.json and, if present, DIR/dna_config.json. Throws Error naming file, key and
/// value.
ModelConfig load_config(const std::string& dir);

/// inv_freq[j], j < head_dim / 2, in double, YaRN applied.
std::vector<double> rope_inv_freq(const ModelConfig& config);
/// The factor on cos and sin: 1, or YaRN's attention factor.
double rope_attention_factor(const ModelConfig& config);

/// The config keys that change numbers, as sorted `key=value` lines: part of the model's digest. (Not
/// max_position_embeddings: it only bounds windows.)
std::string config_fingerprint(const ModelConfig& config);

}  // namespace carbon
