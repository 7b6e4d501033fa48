// A safetensors file, mapped read-only. Header, offsets and shapes are hostile input and are checked before
// use.
//
// TensorFile is what a checkpoint needs of such a file; the tensors may lie in any memory.
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

/// Named tensors in one range of read-only memory.
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
  /// The stamp of the file when it was mapped; empty if there is no file.
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
  /// Maps the file and parses its header. Throws Error, which names file and tensor, for a file that is too
  /// short, a header that is not JSON, a range that passes the end or overlaps another, and a shape that
  /// needs another number of bytes than its range has.
  explicit SafetensorsFile(const std::string& path);
  ~SafetensorsFile() override;
};

}  // namespace carbon
