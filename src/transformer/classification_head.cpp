#include "src/transformer/classification_head.hpp"

#include <cmath>

#include "src/base/error.hpp"
#include "src/model/tensor_numbers.hpp"

namespace carbon {

ClassificationHead::ClassificationHead(const Checkpoint& checkpoint) {
  const TensorView matrix = checkpoint.score();
  labels_ = matrix.rows;
  by_column_.resize(matrix.rows * matrix.cols);
  std::vector<float> row(matrix.cols);
  for (size_t label = 0; label < labels_; ++label) {
    widen_row(matrix, label, row.data());
    for (size_t i = 0; i < row.size(); ++i) {
      if (!std::isfinite(row[i]))
        throw Error("load_checkpoint", checkpoint.dir() + ": " + kScore + " has a number in row " +
                                           std::to_string(label) + ", column " + std::to_string(i) +
                                           " that is not finite; the training has failed");
      by_column_[i * labels_ + label] = row[i];
    }
  }
}

std::vector<double> ClassificationHead::values(std::span<const float> state) const {
  std::vector<double> sums(labels_, 0.0);
  const float* weight = by_column_.data();
  for (const float number : state)
    for (double& sum : sums) sum += double{number} * double{*weight++};
  return sums;
}

}  // namespace carbon
