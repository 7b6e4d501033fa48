// The head of a model that was trained to give values of labels: score.weight of transformers'
// LlamaForSequenceClassification, times one hidden state after the final norm.
//
// The matrix is small, so that it is multiplied on the host. It knows neither activations nor scales.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "src/model/checkpoint.hpp"

namespace carbon {

class ClassificationHead {
 public:
  /// Reads the matrix [labels, hidden] as f32, which holds every stored type exactly. Throws Error if it has
  /// a number that is not finite, or if the model has no classification head.
  explicit ClassificationHead(const Checkpoint& checkpoint);

  size_t labels() const { return labels_; }
  /// One value for each label, of a hidden state [hidden] after the final norm: the sum of the products of
  /// f32 numbers in double, from the first number of the state to the last.
  std::vector<double> values(std::span<const float> state) const;

 private:
  size_t labels_;
  std::vector<float> by_column_;  // [hidden, labels]
};

}  // namespace carbon
