// The matrices that carbon embed writes, read row by row: its table, and .npy or .safetensors with the table
// of names beside it; and a table that says more of each sequence.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace carbon {

/// The header of a .npy file, in which numpy keeps an array: what stands before the values of a matrix in C
/// order.
struct NpyHeader {
  bool half = false;  // f16, else f32
  uint64_t rows = 0, columns = 0;
  uint64_t begin = 0;  // of the values, in bytes from the start of the file
};

/// Whether a file that begins so is a .npy file.
inline bool is_npy(std::string_view bytes) {
  return bytes.starts_with("\x93NUMPY");
}

/// Whether a file that begins so is a .safetensors file: its first eight bytes are the length, far below
/// 2^32, of the JSON that follows.
inline bool is_safetensors(std::string_view bytes) {
  return bytes.size() > 8 && bytes.substr(4, 4) == std::string_view("\0\0\0\0", 4) && bytes[8] == '{';
}

/// Reads a header from the first bytes of a file, which may be more than the header. Throws Error for
/// versions other than 1 to 3, for types other than little-endian f4 and f2, for Fortran order, and for
/// arrays that are no matrix.
NpyHeader parse_npy_header(std::string_view bytes, const std::string& path);

/// One row: its sequence, how many sequences were begun before that one, and its values.
struct EmbeddingRow {
  std::string_view name;
  uint64_t sequence = 0;
  std::span<const float> values;
};

using UseEmbeddingRow = std::function<void(const EmbeddingRow&)>;

/// A file of embeddings.
struct Embeddings {
  size_t columns = 0;
  std::string format;               // in words: the kind of file and the type of its values
  std::string names_path;           // of the file with the names, "" if they are in the matrix's own file
  std::vector<std::string> header;  // of the run that made it: lines that begin with ##carbon_
  /// Hands over all rows, in order. May be called again; only one row is in memory. Throws Error, with the
  /// line or the row, for a file that is cut or damaged, for values that are no finite numbers, and for names
  /// that do not fit the matrix.
  std::function<void(const UseEmbeddingRow& use)> read;
};

/// More columns than any model has hidden values; their covariance would not fit the memory of small
/// machines.
inline constexpr size_t kMostEmbeddingColumns = 8192;

/// Opens a file of embeddings, by its first bytes. Throws Error if it is none.
Embeddings open_embeddings(const std::string& path);

/// A column of a table that says more of each sequence, such as its species or its GC content.
class GroupTable {
 public:
  /// Reads a table with tabs between columns and a line of their names, which may begin with #. Its first
  /// column has the names of sequences. Empty values, "." and "NA" are none. Throws Error for a column that
  /// is not there or is there twice, lines of other lengths, and a name with two different values.
  GroupTable(const std::string& path, const std::string& column);

  /// The number of the sequence's value among values(), or nothing. Counts the name as found.
  std::optional<size_t> find(std::string_view name);

  /// Different values, in the order in which they first occur.
  const std::vector<std::string>& values() const { return values_; }
  /// If all values are numbers, and more than a few different whole ones: the values as numbers. Else empty:
  /// the values are names of groups.
  const std::vector<double>& numbers() const { return numbers_; }
  /// Names of the table that find() was never asked for.
  uint64_t unused() const { return entries_.size() - found_; }

 private:
  struct Entry {
    std::optional<size_t> value = {};  // its number
    bool found = false;
  };
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  // Returns false if the name has another value already.
  bool add(std::string_view name, std::string_view value);
  void find_numbers();

  std::vector<std::string> values_;
  std::vector<double> numbers_;
  std::unordered_map<std::string, Entry, Hash, std::equal_to<>> entries_;
  std::unordered_map<std::string, size_t, Hash, std::equal_to<>> value_numbers_;
  uint64_t found_ = 0;
};

}  // namespace carbon
