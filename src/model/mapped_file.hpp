// A whole file in memory, read-only. The pages are read when they are used.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "src/base/files.hpp"

namespace carbon {

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

}  // namespace carbon
