// From the values of a model that was trained on standardised labels back to their units: value * std + mean,
// with the numbers of a file.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

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

}  // namespace carbon
