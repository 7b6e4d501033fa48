// The matrices that carbon embed writes, read row by row: its table, and .npy or .safetensors with the table
// of names beside it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace carbon {

/// One row: its sequence, how many sequences were begun before that one, and its values.
struct EmbeddingRow {
  std::string_view name;
  uint64_t sequence = 0;
  std::span<const float> values;
};

class EmbeddingReader {
 public:
  virtual ~EmbeddingReader() = default;
  EmbeddingReader(const EmbeddingReader&) = delete;
  EmbeddingReader& operator=(const EmbeddingReader&) = delete;

  /// Hands over all rows, in order. May be called again; only one row is in memory. Throws Error, with the
  /// line or the row, for a file that is cut or damaged, for values that are no finite numbers, and for names
  /// that do not fit the matrix.
  virtual void read(const std::function<void(const EmbeddingRow&)>& use) const = 0;

  size_t columns() const { return columns_; }
  /// In words: the kind of file and the type of its values.
  const std::string& format() const { return format_; }
  /// The file with the names, "" if they are in the matrix's own file.
  const std::string& names_path() const { return names_path_; }

 protected:
  EmbeddingReader() = default;

  size_t columns_ = 0;
  std::string format_, names_path_;
};

/// More columns than any model has hidden values; their covariance would not fit the memory of small
/// machines.
inline constexpr size_t kMostEmbeddingColumns = 8192;

/// The header of a .npy file.
struct NpyHeader {
  bool half = false;  // f16, else f32
  uint64_t rows = 0;
  size_t columns = 0;
  uint64_t begin = 0;  // of the data, in bytes from the start of the file
};
/// Reads a header from the first bytes of a file, which may be more than the header. Throws Error for
/// versions other than 1 to 3, for types other than little-endian f4 and f2, for Fortran order, and for
/// arrays that are no matrix.
NpyHeader parse_npy_header(std::string_view bytes, const std::string& path);

/// Opens a file of embeddings, by its first bytes. Throws Error if it is none.
std::unique_ptr<EmbeddingReader> open_embeddings(const std::string& path);

}  // namespace carbon
