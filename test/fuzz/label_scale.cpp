// The scales of labels: their names, joined by commas, and the JSON that has the scales.
#include "src/pooling/label_values.hpp"

#include <cmath>

#include "test/fuzz/harness.hpp"

namespace carbon::fuzz {

void run(std::string_view input, const Folder& folder) {
  const auto files = split_files(input, 2);
  folder.put("scale.json", files[1]);
  std::vector<std::string> labels;
  for (const std::string_view label : split(files[0], ',')) labels.emplace_back(label);
  attempt([&] {
    for (const std::string& tag : tag_labels(labels))
      for (const char c : tag)
        require(c == '.' || c == '_' || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
                    (c >= 'a' && c <= 'z'),
                "a letter that no tag may have");
  });
  const std::vector<LabelScale> scales =
      label_scales(read_label_scale(folder.path() + "/scale.json"), labels);
  require(scales.size() == labels.size(), "a label without a scale");
  for (const LabelScale& scale : scales)
    require(std::isfinite(scale.mean) && std::isfinite(scale.std) && scale.std > 0, "an unfit scale");
}

}  // namespace carbon::fuzz
