#include "src/model/model_use.hpp"

#include "src/base/error.hpp"
#include "src/base/json.hpp"

namespace carbon {

void check_use(const Checkpoint& checkpoint, ModelUse use) {
  const auto& classifier = checkpoint.config().classifier;
  if (use == ModelUse::bases && classifier)
    throw Error("model",
                checkpoint.id() + " has a classification head (" + std::to_string(classifier->labels.size()) +
                    (classifier->labels.size() == 1 ? " label: " : " labels, the first is ") +
                    printable(classifier->labels.front()) +
                    ") instead of an output matrix, so it gives values of labels and hidden states, but no "
                    "probabilities of bases",
                {"use 'carbon predict', 'carbon embed' or 'carbon vep --recipe head'"});
  if (use == ModelUse::labels && !classifier)
    throw Error(
        "model",
        checkpoint.id() + " has no classification head (score.weight), so it predicts bases and no labels",
        {"name a fine-tuned model with {--model}, or its adapter with {--lora}; 'carbon models' shows "
         "labels"});
}

}  // namespace carbon
