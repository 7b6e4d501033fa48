// A matrix of numbers that grows row by row, as a file that numpy or the safetensors package reads.
//
// Rows are written as they come. Space for the header is reserved at the beginning, and the header, which
// says how many rows there are, is written at the end. Little-endian on every machine. It does not know what
// the numbers mean.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernels/tensor.hpp"

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

}  // namespace carbon
