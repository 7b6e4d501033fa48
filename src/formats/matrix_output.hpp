// A matrix with the files beside it: a table that says what its rows are, and what made them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/base/error.hpp"
#include "src/files/output.hpp"
#include "src/formats/array_file.hpp"

namespace carbon {

/// The format that the end of a name stands for: .npy or .safetensors.
std::optional<ArrayFormat> array_format_of(const std::string& path);

/// A matrix is a file STEM.npy or STEM.safetensors; its path may be without the suffix.
struct MatrixPlace {
  std::string path;
  ArrayFormat format = ArrayFormat::npy;
  std::string table;    // the end of the table's name after the stem, such as ".names.tsv"
  std::string heading;  // its first line, without a newline

  std::string stem() const;
  /// The name of the matrix.
  std::string matrix() const;
};

/// Throws Error, from `command`, unless the matrix and the files beside it can be written: it needs a regular
/// file, because its beginning is written last, and a JSON or a table of another origin would
/// be lost.
void check_matrix_output(const std::string& command, const MatrixPlace& place, const Advice& advice = {});

/// The provenance (src/formats/provenance.hpp) stands in the header of safetensors; npy has no place for it,
/// so there it is in a file STEM.json.
class MatrixOutput {
 public:
  /// Throws Error, as do the other functions.
  MatrixOutput(const MatrixPlace& place, ArrayLayout layout, const std::vector<std::string>& provenance);

  void append(std::span<const float> rows, size_t tensor = 0) { matrix_.append(rows, tensor); }
  uint64_t rows() const { return matrix_.rows(); }
  /// Adds a line to the table.
  void describe(const std::string& line) { table_.write(line + "\n"); }

  /// Completes the files, which then get their names by commit(): the matrix last, so that a complete one
  /// always has the files beside it. Without both, no file is left behind.
  void finish();
  void commit();

 private:
  ArrayFile matrix_;
  TextOutput table_;
  std::optional<TextOutput> record_;
};

}  // namespace carbon
