// What a section of embeddings draws: principal components, the points along them, and the groups of their
// sequences.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "src/report/sources/embeddings.hpp"
#include "src/report/sources/options.hpp"

namespace carbon {

/// Hands over each row of a matrix, all of the same length, in the same order at each call.
using ReadRows = std::function<void(const std::function<void(std::span<const float>)>& use)>;

struct Pca {
  uint64_t rows = 0;
  std::vector<double> means;  // of the columns
  /// Directions of length 1; the largest number of each is positive.
  std::vector<std::vector<double>> components;
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
/// rows, or rows that are all equal. Reads the rows once. Memory: 8 bytes times the square of `columns`, and
/// some hundred rows. The result does not depend on the number of threads.
Pca principal_components(const ReadRows& read, size_t columns, size_t most);

inline constexpr size_t kNoGroup = static_cast<size_t>(-1);

struct EmbeddingPoint {
  std::array<double, 4> at = {};  // along the first components, as many as there are
  std::string name;
  size_t group = kNoGroup;  // of EmbeddingPoints::groups, or kNoGroup
  double number = 0;        // if the column has numbers
};

/// A value of the column, with the sequences and rows that have it.
struct EmbeddingGroup {
  std::string name;
  uint64_t sequences = 0, rows = 0;
};

struct EmbeddingPoints {
  Pca pca;
  Embeddings file;
  uint64_t rows = 0, sequences = 0;    // of the file; sequences with a row at least
  std::vector<EmbeddingPoint> points;  // all rows, or an even sample of them, in order
  bool coloured = false, numeric = false;
  std::vector<EmbeddingGroup> groups;  // the largest first; of numbers one for each, in no such order
  EmbeddingGroup without;              // those that have no value
  uint64_t unused = 0;                 // names of the table that are not embedded
};

/// Reads the file twice: for the components, and for where points lie along them. Throws Error.
EmbeddingPoints read_points(const std::string& path, const ReportOptions& options, size_t most_components,
                            size_t most_points);

}  // namespace carbon
