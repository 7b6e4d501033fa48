// A matrix of numbers that grows row by row, as a file that numpy or the safetensors package reads.
//
// Rows are written as they come. Space for the header is reserved at the beginning, and the header, which
// says how many rows there are, is written at the end. Little-endian on every machine. It does not know what
// the numbers mean.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "kernels/tensor.hpp"
#include "src/files/output.hpp"

namespace carbon {

/// npy: format 1.0 of numpy, C order. safetensors: one tensor `embeddings`. Both [rows, columns].
enum class ArrayFormat { npy, safetensors };

/// The bytes before the data of such a file. Their number depends only on the format and the metadata: a JSON
/// object of strings for __metadata__ of safetensors, or "".
std::string array_header(ArrayFormat format, DType type, uint64_t rows, size_t columns,
                         const std::string& metadata = "");

class ArrayFile {
 public:
  /// `path` names a regular file, not a stream (see OutputPath). `type` is f32 or f16. `metadata` as for
  /// array_header(). Throws Error, as do the other functions.
  ArrayFile(const std::string& path, ArrayFormat format, DType type, size_t columns,
            std::string metadata = "");
  ~ArrayFile();
  ArrayFile(const ArrayFile&) = delete;
  ArrayFile& operator=(const ArrayFile&) = delete;

  /// Adds whole rows, [n, columns]. For f16, values are rounded to nearest even.
  void append(std::span<const float> rows);
  uint64_t rows() const { return values_ / columns_; }

  /// Writes the header and closes the file; commit() then gives it its name. Without both, no file is left
  /// behind.
  void finish();
  void commit() { target_.commit(); }

 private:
  void flush();
  void write(const char* data, size_t bytes);
  [[noreturn]] void fail(const char* what) const;

  OutputPath target_;
  ArrayFormat format_;
  DType type_;
  size_t columns_;
  std::string metadata_;
  int fd_;
  uint64_t values_ = 0;
  std::string buffer_;
};

}  // namespace carbon
