// Two small questions about paths: is something there, and what does it look like.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <string>

namespace carbon {

/// True if the path names anything, a dangling link included: opening that then fails with a message of its
/// own instead of passing for an absent file.
inline bool path_exists(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0;
}

/// What a cache goes by to see that a file is still the one it was.
struct FileStamp {
  std::string text;      // device, inode, size and modification time
  int64_t modified = 0;  // seconds since the epoch
};

inline FileStamp file_stamp(const struct stat& s) {
  return {std::to_string(s.st_dev) + " " + std::to_string(s.st_ino) + " " + std::to_string(s.st_size) + " " +
              std::to_string(s.st_mtim.tv_sec) + "." + std::to_string(s.st_mtim.tv_nsec),
          s.st_mtim.tv_sec};
}

}  // namespace carbon
