// The angles of the rotary embedding, and rope scaling that the user of a model asks for, in place of that of
// config.json. See config.hpp; the formula is in docs/model.md, "YaRN".
//
// The result is the same configuration that an edited config.json would give, so digests, caches and outputs
// are the same in both cases.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/error.hpp"
#include "src/base/json.hpp"
#include "src/base/numbers.hpp"
#include "src/model/config.hpp"

namespace carbon {
namespace {

// The published models by their shapes, and how far they were evaluated (docs/model.md, "Published models").
struct Published {
  const char* name;
  size_t hidden, layers, heads;
  size_t original;  // tokens, without scaling
  size_t limit;     // tokens with YaRN; 0 if the model had no long-context training
};
constexpr Published kPublished[] = {
    {"Carbon-500M", 1024, 28, 16, 8192, 0},
    {"Carbon-3B", 3072, 30, 32, 32768, 65536},
    {"Carbon-8B", 4096, 32, 32, 32768, 131072},
};
constexpr double kPublishedFactor = 4;

/// An angle per position with the scaling of Llama 3.
double llama3_frequency(const Llama3Rope& rope, double frequency) {
  const double rotations = rope.original_max_positions * frequency / (2 * std::numbers::pi);
  const double kept =
      std::clamp((rotations - rope.low_factor) / (rope.high_factor - rope.low_factor), 0.0, 1.0);
  return (1 - kept) * frequency / rope.factor + kept * frequency;
}

}  // namespace

RopeScaling parse_rope_scaling(const std::string& text) {
  RopeScaling scaling;
  if (text == "none") return scaling;
  constexpr std::string_view kPrefix = "yarn:";
  if (text.starts_with(kPrefix))
    scaling.yarn = parse_number(std::string_view(text).substr(kPrefix.size()), scaling.factor) &&
                   std::isfinite(scaling.factor) && scaling.factor >= 1;
  if (!scaling.yarn)
    throw Error("parse_rope_scaling", "rope scaling '" + printable(text) +
                                          "': expected none, or yarn:FACTOR with a factor of 1 or more, such "
                                          "as yarn:4");
  return scaling;
}

std::string rope_scaling_text(const RopeScaling& scaling) {
  return scaling.yarn ? "yarn:" + shortest_text(scaling.factor) : "none";
}

void apply_rope_scaling(const RopeScaling& asked, ModelConfig& config) {
  if (config.llama3_rope)
    throw Error("rope_scaling", "rope scaling " + rope_scaling_text(asked) +
                                    " cannot replace the rope_type llama3 with which the model was trained; "
                                    "its context of " +
                                    std::to_string(config.max_positions) + " tokens cannot be extended");
  const double original = config.rope_scaling.yarn ? config.rope_scaling.original_max_positions
                                                   : static_cast<double>(config.max_positions);
  const double positions = std::floor(original * asked.factor);
  if (positions > static_cast<double>(kMaxPositions))
    throw Error("rope_scaling", "rope scaling " + rope_scaling_text(asked) + " extends the context from " +
                                    shortest_text(original) + " to " + shortest_text(positions) +
                                    " tokens; the largest is " + std::to_string(kMaxPositions));
  config.rope_scaling = asked;
  if (asked.yarn) config.rope_scaling.original_max_positions = original;
  config.max_positions = static_cast<size_t>(positions);
}

std::string long_context_warning(const ModelConfig& config) {
  const RopeScaling& scaling = config.rope_scaling;
  if (!scaling.yarn) return "";
  for (const Published& model : kPublished) {
    if (config.hidden != model.hidden || config.layers != model.layers || config.heads != model.heads ||
        scaling.original_max_positions != static_cast<double>(model.original))
      continue;
    const std::string name = model.name;
    if (model.limit == 0)
      return name + " had no long-context training: its quality beyond " + std::to_string(model.original) +
             " tokens is unknown, with or without YaRN";
    if (scaling.factor != kPublishedFactor)
      return name + " is published with YaRN of factor " + shortest_text(kPublishedFactor) + ", up to " +
             std::to_string(model.limit) + " tokens; its quality with factor " +
             shortest_text(scaling.factor) + " is unknown";
    if (config.max_positions > model.limit)
      return name + " is published with YaRN up to " + std::to_string(model.limit) +
             " tokens; it accepts up to " + std::to_string(config.max_positions) +
             ", but fails at most tasks in longer sequences";
  }
  return "";
}

std::vector<double> rope_inv_freq(const ModelConfig& config) {
  const RopeScaling& s = config.rope_scaling;
  const double d = static_cast<double>(config.head_dim);
  std::vector<double> inv_freq(config.head_dim / 2);
  for (size_t j = 0; j < inv_freq.size(); ++j) {
    inv_freq[j] = std::pow(config.rope_theta, -2.0 * static_cast<double>(j) / d);
  }
  if (config.llama3_rope)
    for (double& frequency : inv_freq) frequency = llama3_frequency(*config.llama3_rope, frequency);
  if (!s.yarn) return inv_freq;

  // The dimension (not a whole number) whose angle turns `rotations` times over the original context.
  auto dimension = [&](double rotations) {
    return d * std::log(s.original_max_positions / (2 * std::numbers::pi * rotations)) /
           (2 * std::log(config.rope_theta));
  };
  double low = dimension(s.beta_fast), high = dimension(s.beta_slow);
  if (s.truncate) {
    low = std::floor(low);
    high = std::ceil(high);
  }
  low = std::max(low, 0.0);
  high = std::min(high, d - 1);
  if (low == high) high += 0.001;
  for (size_t j = 0; j < inv_freq.size(); ++j) {
    const double ramp = std::clamp((static_cast<double>(j) - low) / (high - low), 0.0, 1.0);
    inv_freq[j] = inv_freq[j] / s.factor * ramp + inv_freq[j] * (1 - ramp);
  }
  return inv_freq;
}

double rope_attention_factor(const ModelConfig& config) {
  const RopeScaling& s = config.rope_scaling;
  if (!s.yarn) return 1.0;
  return s.attention_factor > 0 ? s.attention_factor : 0.1 * std::log(s.factor) + 1.0;
}

}  // namespace carbon
