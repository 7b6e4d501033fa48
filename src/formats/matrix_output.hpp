// A matrix of numbers that grows row by row, as a file that numpy or the safetensors package reads, with the
// files beside it: a table that says what its rows are, and what made them. It does not know what the numbers
// mean.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernels/tensor.hpp"
#include "src/base/error.hpp"
#include "src/files/output.hpp"

namespace carbon {

enum class ArrayFormat { npy, safetensors };

/// npy: format 1.0 of numpy, C order, one array. safetensors: tensors one after the other. All [rows,
/// columns].
struct ArrayLayout {
  ArrayFormat format = ArrayFormat::npy;
  DType type = DType::f32;  // or f16
  size_t columns = 0;
  std::vector<std::string> tensors = {"embeddings"};  // of safetensors
  std::string metadata = {};  // a JSON object of strings for __metadata__ of safetensors, or ""
};

/// The bytes before the data of such a file. Their number depends only on the layout.
std::string array_header(const ArrayLayout& layout, uint64_t rows);

/// Rows are written as they come. Space for the header is reserved at the beginning, and the header, which
/// says how many rows there are, is written at the end. Little-endian on every machine.
class ArrayFile {
 public:
  /// `path` names a regular file, not a stream (see OutputPath). Throws Error, as do the other functions.
  ArrayFile(const std::string& path, ArrayLayout layout);
  ~ArrayFile();
  ArrayFile(const ArrayFile&) = delete;
  ArrayFile& operator=(const ArrayFile&) = delete;

  const ArrayLayout& layout() const { return layout_; }
  /// Adds whole rows, [n, columns], to a tensor. For f16, values are rounded to nearest even. In the end all
  /// tensors must have the same number of rows.
  void append(std::span<const float> rows, size_t tensor = 0);
  /// Of the first tensor.
  uint64_t rows() const;

  /// Writes the header and closes the file; commit() then gives it its name. Without both, no file is left
  /// behind.
  void finish();
  void commit();

 private:
  class Part;

  ArrayLayout layout_;
  std::vector<std::unique_ptr<Part>> parts_;  // of the tensors; the first is the file itself
};

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
