// Whether a path exists, and how to notice that a file has changed or that bytes of it are damaged.
#pragma once

#include <sys/stat.h>
#include <zlib.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace carbon {

/// True if the path names anything, including a dangling symbolic link: a file that is reached by such a link
/// is not reported as absent, but as one that cannot be opened.
inline bool path_exists(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0;
}

/// Two equal stamps mean, for a cache, that a file has not changed.
struct FileStamp {
  std::string text;      // device, inode, size and modification time
  int64_t modified = 0;  // seconds since the epoch
};

inline FileStamp file_stamp(const struct stat& s) {
  return {std::to_string(s.st_dev) + " " + std::to_string(s.st_ino) + " " + std::to_string(s.st_size) + " " +
              std::to_string(s.st_mtim.tv_sec) + "." + std::to_string(s.st_mtim.tv_nsec),
          s.st_mtim.tv_sec};
}

/// A checksum against damage, not against forgery (src/model/digest.hpp has that): the CRC-32 of zlib of some
/// bytes after those whose checksum is `before`.
inline uint32_t crc32_of(std::string_view bytes, uint32_t before = 0) {
  return static_cast<uint32_t>(::crc32_z(before, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

}  // namespace carbon
