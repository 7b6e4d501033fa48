// A matrix of numbers that grows row by row, as a file that numpy or the safetensors package reads.
//
// Rows go to the disk as they come; the header, which says how many there are, has its place reserved and is
// written at the end. Little-endian on every machine. Knows nothing of what the numbers are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "kernels/tensor.hpp"
#include "src/genome/output.hpp"

namespace carbon {

/// npy: format 1.0 of numpy, C order. safetensors: one tensor `embeddings`. Both [rows, columns].
enum class ArrayFormat { npy, safetensors };

/// The bytes in front of the data of such a file; their number depends on the format alone.
std::string array_header(ArrayFormat format, DType type, uint64_t rows, size_t columns);

class ArrayFile {
 public:
  /// A regular file (OutputPath; not a stream). `type` is f32 or f16. Throws Error.
  ArrayFile(const std::string& path, ArrayFormat format, DType type, size_t columns);
  ~ArrayFile();
  ArrayFile(const ArrayFile&) = delete;
  ArrayFile& operator=(const ArrayFile&) = delete;

  /// Whole rows, [n, columns]; for f16 rounded to nearest even.
  void append(std::span<const float> rows);
  uint64_t rows() const { return values_ / columns_; }

  /// Writes the header, closes and checks; then commit() renames. Without both nothing remains of the file.
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
  int fd_;
  uint64_t values_ = 0;
  std::string buffer_;
};

}  // namespace carbon
