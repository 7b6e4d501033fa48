// What a section of embeddings draws: principal components, the points along them, and the groups of their
// sequences.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/report/sections/pca.hpp"
#include "src/report/sources/group_table.hpp"
#include "src/report/sources/options.hpp"

namespace carbon {

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
  std::string format, names_path;
  size_t columns = 0;
  uint64_t rows = 0, sequences = 0;    // of the file; sequences with a row at least
  std::vector<EmbeddingPoint> points;  // all rows, or an even sample of them, in order
  bool coloured = false, numeric = false;
  std::vector<EmbeddingGroup> groups;  // the largest first; with numbers none
  EmbeddingGroup without;              // those that have no value
  uint64_t unused = 0;                 // names of the table that are not embedded
};

/// Reads the file three times. Throws Error.
EmbeddingPoints read_points(const std::string& path, const ReportOptions& options, size_t most_components,
                            size_t most_points);

}  // namespace carbon
