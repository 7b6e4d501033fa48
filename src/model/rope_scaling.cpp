// Rope scaling that a user asks for. See rope_scaling.hpp.
#include "src/model/rope_scaling.hpp"

#include <cmath>
#include <string_view>

#include "src/base/error.hpp"
#include "src/base/json.hpp"
#include "src/base/numbers.hpp"

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

}  // namespace carbon
