// A file in memory, for libraries that write to a name and read from one.
#pragma once

#include <optional>
#include <string>

#include "src/files/temporary_files.hpp"

namespace carbon {

/// It has a name for this process only, and is gone with the object.
class MemoryFile {
 public:
  /// `name` is what debuggers call it. Without /proc, through which it has its name, as in a bare chroot, it
  /// is a file in $TMPDIR. Throws Error if there is no room for it.
  explicit MemoryFile(const char* name);
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  /// What opens it.
  const std::string& path() const { return path_; }
  /// All that was written. Throws Error.
  std::string bytes() const;

 private:
  std::optional<PrivateDirectory> folder_;  // without /proc
  int fd_;
  std::string path_;
};

}  // namespace carbon
