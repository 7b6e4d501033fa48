// Principal components of a matrix that is read row by row: the directions in which its rows differ most.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace carbon {

/// Hands over each row of a matrix, all of the same length, in the same order at each call.
using ReadRows = std::function<void(const std::function<void(std::span<const float>)>& use)>;

struct Pca {
  uint64_t rows = 0;
  std::vector<double> means;  // of the columns
  std::vector<std::vector<double>>
      components;                 // directions of length 1; the largest number of each is positive
  std::vector<double> variances;  // of the rows along each direction, largest first; divided by rows - 1
  double total = 0;               // variance of all columns together
  /// The largest distance between the covariance matrix times a component and the component times its
  /// variance, as a share of the largest variance: how far the iteration has come. Below 1e-10 nothing is
  /// left to be found.
  double residual = 0;

  /// Where a row lies along a component.
  double score(std::span<const float> row, size_t component) const;
};

/// The first `most` components, or fewer if the rows differ in fewer directions; none for fewer than two
/// rows, or rows that are all equal. Reads the rows twice. Memory: 8 bytes times the square of `columns`, and
/// some hundred rows. The result does not depend on the number of threads.
Pca principal_components(const ReadRows& read, size_t columns, size_t most);

}  // namespace carbon
