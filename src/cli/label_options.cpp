#include "src/cli/label_options.hpp"

#include <memory>

#include "src/cli/options.hpp"

namespace carbon {

void add_label_options(CommandLine& line, Pooling& pooling, LabelSettings& labels, const std::string& of) {
  const auto scale = std::make_shared<std::string>();
  OptionGroup group = line.group("Classification head" + of);
  group.option(
      {"pool", "POOL",
       "the row that is read: separator (of </dna> or a last <s>; default) or last (of the last 6-mer)"},
      pooling.pool, kRowPoolWords);
  group.flag("pad-tail", "pad a partial 6-mer at the end with A (default: leave it out)", pooling.pad_tail);
  group
      .option({"labels", "LIST", "names of the labels, with commas"},
              [&labels](const std::string& text) {
                with_dashes("main_labels", [&] { labels.labels = parse_labels(text); });
              })
      .shows_default("as config.json has them");
  group.option({"label-scale", kInput,
                "JSON file with mean and std of each label, or the run_config.json of the training: write "
                "value * std + mean"},
               *scale);
  // A file is opened when it is declared.
  line.after_parsing([&labels, scale] {
    if (!scale->empty()) labels.scale = read_label_scale(*scale);
  });
  group.option({"activation", "NAME",
                "auto (by problem_type of config.json; default), none, sigmoid or softmax (over all labels)"},
               labels.activation, kActivationWords);
}

}  // namespace carbon
