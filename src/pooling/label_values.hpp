// What `carbon predict`, the recipe head of `carbon vep` and the server make of the hidden state of a pooled
// row: a value for each label of the model, with activation and scale. The scale takes the values of a model
// that was trained on standardised labels back to their units: value * std + mean, with the numbers of a
// file.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "src/base/log.hpp"
#include "src/base/settings.hpp"
#include "src/base/words.hpp"
#include "src/pooling/pooled_rows.hpp"
#include "src/transformer/head.hpp"

namespace carbon {

/// Of one label.
struct LabelScale {
  double mean = 0, std = 1;
};

/// A file of scales, or what a request has in its place.
struct LabelScaleText {
  std::shared_ptr<const nlohmann::json> object;  // null: none
  std::string where;                             // what messages call it
};

/// Reads a file. Throws Error unless it is a JSON object.
LabelScaleText read_label_scale(const std::string& path);

/// One scale for each label. The object is {"LABEL": {"mean": m, "std": s}, ...}, or a run_config.json of the
/// makers: `label_transform` has `center` and `scale` for the label NAME or NAME_scaled under NAME, or
/// `label_stats` has NAME_mean and NAME_std. Throws Error, which names label and file, for a label that it
/// lacks and for a number that is not finite, or not positive where it is a factor.
std::vector<LabelScale> label_scales(const LabelScaleText& text, const std::vector<std::string>& labels);

/// What is computed from the products with the head. softmax is over all labels.
enum class Activation { automatic, none, sigmoid, softmax };
inline constexpr Word<Activation> kActivationWords[] = {{"auto", Activation::automatic},
                                                        {"none", Activation::none},
                                                        {"sigmoid", Activation::sigmoid},
                                                        {"softmax", Activation::softmax}};

/// What a user chooses about the values of a head.
struct LabelSettings {
  std::vector<std::string> labels;  // in place of the model's; empty: the model's
  Activation activation = Activation::automatic;
  LabelScaleText scale;
};

/// Which row a head reads, and how its values are written.
SettingList label_settings(Pooling& pooling, LabelSettings& labels);

class LabelValues {
 public:
  /// Throws Error if the model has no classification head, for another number of labels than it has, for
  /// labels without a name or with the same one, for a scale that lacks one, and for a scale beside an
  /// activation. Warns if nothing says which activation belongs to the model; then it has none.
  LabelValues(const Checkpoint& checkpoint, const LabelSettings& settings, Log& log);

  /// The labels, as tables name them: without tabs and ends of lines.
  const std::vector<std::string>& names() const { return names_; }
  /// The values of the labels for a hidden state [hidden] after the final norm. They may be infinite.
  std::vector<double> values(std::span<const float> state) const;
  /// What they depend on besides the model and its input: the activation, and the SHA-256 of the scales.
  Settings settings() const;

 private:
  ClassificationHead head_;
  std::vector<std::string> names_;
  Activation activation_;
  std::vector<LabelScale> scales_;  // empty: none
};

/// The labels as parts of the names of INFO tags: each character that is not a letter, a digit, _ or .
/// becomes _. Throws Error for two that then agree.
std::vector<std::string> tag_labels(const std::vector<std::string>& labels);

}  // namespace carbon
