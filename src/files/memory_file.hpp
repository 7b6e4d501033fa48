// A file in memory, for libraries that write to a name and read from one.
#pragma once

#include <string>

namespace carbon {

/// It has a name for this process only, and is gone with the object.
class MemoryFile {
 public:
  /// `name` is what debuggers call it. Throws Error if there is no memory or no /proc, through which it has
  /// its name.
  explicit MemoryFile(const char* name);
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  /// What opens it.
  const std::string& path() const { return path_; }
  /// All that was written. Throws Error.
  std::string bytes() const;

 private:
  int fd_;
  std::string path_;
};

}  // namespace carbon
