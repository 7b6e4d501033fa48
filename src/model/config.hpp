// config.json of a checkpoint with dna_config.json, the tokenizer files of a GENERator or the tokenizer.json
// of a MarinDNA, checked key by key. A key with an unknown meaning is an Error, never a guess (docs/model.md,
// "Checkpoint files").
//
// Facts: docs/model.md, "Published models" (hyper-parameters), "YaRN" and "Checkpoint files".
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tokenizer/kmer.hpp"

namespace carbon {

/// YaRN as transformers 4.56 and later compute it. With yarn = false this is plain RoPE.
struct RopeScaling {
  bool yarn = false;
  double factor = 1.0;
  double original_max_positions = 0;  // tokens
  double beta_fast = 32, beta_slow = 1;
  double attention_factor = 0;  // 0: 0.1 ln(factor) + 1
  bool truncate = true;         // round the ends of the ramp to whole dimensions

  bool operator==(const RopeScaling&) const = default;
};

/// The rope_type llama3: slow rotations are slowed down further, and fast ones stay (docs/model.md, "Llama 3
/// frequencies"). A model was trained with it, so that it is not exchanged for another scaling.
struct Llama3Rope {
  double factor = 1;                       // by which the slowest rotations are slowed down
  double low_factor = 1, high_factor = 4;  // rotations over the original context, between which it blends
  double original_max_positions = 0;       // tokens

  bool operator==(const Llama3Rope&) const = default;
};

/// The largest context in tokens that a configuration may ask for.
inline constexpr size_t kMaxPositions = size_t{1} << 28;

/// What is known of a classification head besides its matrix, score.weight.
struct ClassifierConfig {
  /// One for each row of the matrix. A configuration that was read without its checkpoint has those of
  /// config.json, or none if it names none.
  std::vector<std::string> labels;
  std::string problem_type;  // as in config.json, which knows three; "": it does not say
};

/// A model that gives each base of a window the logits of its classes, on both strands (docs/model.md,
/// "Annotators"). Every token sees the whole window, and there is no output matrix.
struct AnnotatorConfig {
  bool hidden_layer = false;  // of its heads, before their last matrix

  /// The forward strand, then the reverse one.
  static constexpr size_t kStrands = 2;
  /// NON_CODING, then CDS.
  static constexpr size_t kClasses = 2;
  static constexpr const char* kLabels[kClasses] = {"NON_CODING", "CDS"};
};

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
  std::optional<Llama3Rope> llama3_rope;  // then rope_scaling is plain
  /// An RMSNorm of each head's vector of the queries and of the keys, before it is rotated (Qwen3).
  bool head_norm = false;
  bool tied_head = false;
  /// Set for a model that gives values of labels and has no output matrix; then tied_head is false.
  std::optional<ClassifierConfig> classifier;
  /// Set for an annotator; then tied_head is false, and there is no classifier.
  std::optional<AnnotatorConfig> annotator;
  TokenLayout layout;

  /// True if the model gives probabilities of bases.
  bool has_output_matrix() const { return !classifier && !annotator; }
  /// True if a token sees those before it alone.
  bool causal() const { return !annotator; }

  /// Tokens of the context that are left for the one that begins a sequence and its 6-mers.
  size_t sequence_positions() const { return max_positions - layout.lead(); }
};

/// The configuration with metadata, of these ids, beside every sequence that it lays out. Throws Error if
/// that leaves no room in the model's context for a 6-mer.
ModelConfig with_metadata(ModelConfig config, std::vector<uint32_t> ids);

/// Reads and checks config.json and, if present, dna_config.json or the tokenizer files of a GENERator in the
/// directory `dir`; for a Qwen3 also tokenizer.json, which must be there. Throws Error, which names file, key
/// and value.
ModelConfig load_config(const std::string& dir);

/// The values of problem_type in config.json.
inline constexpr const char* kProblemTypes[] = {"regression", "single_label_classification",
                                                "multi_label_classification"};

/// Throws Error if the run_config.json that the makers' scripts for training write, in the directory of a
/// model or of an adapter or in the directory around it, says that the text had no 6-mers.
void check_trained_on_kmers(const std::string& dir);

/// What another kind of file calls the keys of config.json, by those keys.
using SettingNames = std::map<std::string, std::string>;

/// A configuration from another kind of file, with the checks of config.json: `settings` is an object with
/// the keys of config.json. Messages begin with `where` and call each key by its name in `names`. The layout
/// of the vocabulary is left to the caller. Throws Error.
ModelConfig config_from(const std::string& where, const nlohmann::json& settings, const SettingNames& names);

/// inv_freq[j] for j < head_dim / 2: the angle per position of the j-th pair, in radians, with YaRN or the
/// scaling of Llama 3 applied.
std::vector<double> rope_inv_freq(const ModelConfig& config);
/// What cos and sin are multiplied by: 1, or YaRN's attention factor.
double rope_attention_factor(const ModelConfig& config);

/// Reads "none" or "yarn:FACTOR" with a factor of 1 or more. The original context is not set: it is that of
/// the model. Throws Error for any other text.
RopeScaling parse_rope_scaling(const std::string& text);

/// Writes "none" or "yarn:FACTOR".
std::string rope_scaling_text(const RopeScaling& scaling);

/// Replaces the rope scaling of the configuration by `asked`, as parse_rope_scaling() returns it; of the
/// former scaling only the original context is kept. max_positions becomes factor * original context, or with
/// "none" the original context. Throws Error if that exceeds kMaxPositions, and for a model with rope_type
/// llama3.
void apply_rope_scaling(const RopeScaling& asked, ModelConfig& config);

/// What is known to go wrong if the published model of this shape uses the context that its YaRN scaling
/// allows. Empty without YaRN and for other models.
std::string long_context_warning(const ModelConfig& config);

}  // namespace carbon
