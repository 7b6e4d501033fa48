// A safetensors file, mapped read-only. Header, offsets and shapes are hostile input and are checked before
// use.
#pragma once

#include <functional>
#include <string>

#include "src/model/tensor_file.hpp"

namespace carbon {

class SafetensorsFile final : public TensorFile {
 public:
  /// Maps the file and parses its header. Throws Error, which names file and tensor, for a file that is too
  /// short, a header that is not JSON, a range that passes the end or overlaps another, and a shape that
  /// needs another number of bytes than its range has.
  explicit SafetensorsFile(const std::string& path);

  /// Gives each tensor the name that `new_name` returns for its own, unless the file has another tensor of
  /// that name. Throws Error if two then have the same.
  void rename(const std::function<std::string(const std::string&)>& new_name);

  /// `__metadata__` of the header, as JSON; "{}" if there is none.
  const std::string& metadata() const { return metadata_; }

 private:
  MappedFile file_;
  std::string metadata_ = "{}";
};

}  // namespace carbon
