// Named tensors in one range of read-only memory: what a checkpoint needs of a file. The memory may be a
// mapped file (MappedFile) or hold tensors that the program made (tensor_buffer.hpp). Also the numbers of a
// stored matrix, whatever its type.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/tensor.hpp"
#include "src/base/files.hpp"

namespace carbon {

struct TensorInfo {
  std::string dtype;  // as safetensors or GGUF writes it: "BF16", "F32", "Q8_0", ...
  std::vector<uint64_t> shape;
  uint64_t begin = 0, end = 0;  // byte range from data()
};

class TensorFile {
 public:
  virtual ~TensorFile() = default;
  TensorFile(const TensorFile&) = delete;
  TensorFile& operator=(const TensorFile&) = delete;

  /// The name for messages; if there is a file, its path.
  const std::string& path() const { return path_; }
  const std::map<std::string, TensorInfo>& tensors() const { return tensors_; }
  const uint8_t* data() const { return data_; }
  size_t size() const { return size_; }
  /// The stamp of the file when it was mapped, or of the file from which the tensors were made; empty if
  /// there is none.
  const FileStamp& stamp() const { return stamp_; }

 protected:
  explicit TensorFile(std::string path) : path_(std::move(path)) {}

  std::string path_;
  FileStamp stamp_;
  std::map<std::string, TensorInfo> tensors_;
  const uint8_t* data_ = nullptr;
  size_t size_ = 0;
};

/// The type that a dtype's name means; nothing for a type that the program cannot compute with.
std::optional<WeightType> weight_type_of(std::string_view dtype);
/// The names of the dtypes that weight_type_of() knows, for messages.
inline constexpr const char* kWeightTypes = "BF16, F16 and F32, and Q8_0 of GGUF files";

/// Bytes of a tensor of this type. Nothing if they are more than a 64-bit number can tell, or if a row of it
/// ends inside a block.
std::optional<uint64_t> tensor_bytes(WeightType type, const std::vector<uint64_t>& shape);

/// "[2,3]", for messages and digests.
std::string shape_text(const std::vector<uint64_t>& shape);

/// The names of two tensors that share bytes, if there are such.
std::optional<std::pair<std::string, std::string>> overlapping(
    const std::map<std::string, TensorInfo>& tensors);

/// A whole file in memory, read-only. The pages are read when they are used.
class MappedFile {
 public:
  /// Throws Error by the name of `function`, with the path, unless this is a regular file of at least
  /// `least` bytes that can be read. `kind` is what the file should be, e.g. "safetensors file".
  MappedFile(const std::string& path, const char* function, const char* kind, size_t least);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  const uint8_t* data() const { return data_; }
  size_t size() const { return size_; }
  const FileStamp& stamp() const { return stamp_; }

 private:
  const uint8_t* data_ = nullptr;
  size_t size_ = 0;
  FileStamp stamp_;
};

/// Gives the pages that are completely inside a range of a mapping back to the system. A later access reads
/// them from the file again.
void give_back_pages(const void* data, size_t bytes);

/// The numbers of a row as f32. The matrix need not be aligned.
void widen_row(const TensorView& matrix, size_t row, float* out);

/// True if `copy` has the shape and the numbers of `original`, rounded to the type of `copy`. Gives the pages
/// that it has read back to the system if they are those of files.
bool is_copy_of(const TensorView& copy, const TensorView& original);

}  // namespace carbon
