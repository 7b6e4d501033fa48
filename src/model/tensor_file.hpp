// Named tensors in one range of read-only memory: what a checkpoint needs of a file. The memory may be a
// mapped file or hold tensors that the program made.
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

}  // namespace carbon
