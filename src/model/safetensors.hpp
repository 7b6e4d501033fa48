// A safetensors file, mapped read-only. Header, offsets and shapes are hostile input and checked before use.
// Its base class is what a checkpoint needs of it, whatever the memory is that holds the tensors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "kernels/tensor.hpp"
#include "src/base/files.hpp"

namespace carbon {

struct TensorInfo {
  std::string dtype;  // as written: "BF16", "F32", ...
  std::vector<uint64_t> shape;
  uint64_t begin = 0, end = 0;  // byte range from the start of the file
};

/// Tensors by name in one range of memory, read-only.
class TensorFile {
 public:
  virtual ~TensorFile() = default;
  TensorFile(const TensorFile&) = delete;
  TensorFile& operator=(const TensorFile&) = delete;

  /// For messages; also the file's path if there is a file.
  const std::string& path() const { return path_; }
  const std::map<std::string, TensorInfo>& tensors() const { return tensors_; }
  const uint8_t* data() const { return data_; }
  size_t size() const { return size_; }
  /// What the file looked like when it was mapped; empty where there is none.
  const FileStamp& stamp() const { return stamp_; }

 protected:
  explicit TensorFile(std::string path) : path_(std::move(path)) {}

  std::string path_;
  FileStamp stamp_;
  std::map<std::string, TensorInfo> tensors_;
  const uint8_t* data_ = nullptr;
  size_t size_ = 0;
};

class SafetensorsFile final : public TensorFile {
 public:
  /// Maps the file and parses its header. Throws Error (file, tensor, what is wrong) for a short file, a
  /// header that is not JSON, a range past the end or overlapping another, a shape whose bytes differ from
  /// the range.
  explicit SafetensorsFile(const std::string& path);
  ~SafetensorsFile() override;
};

}  // namespace carbon
