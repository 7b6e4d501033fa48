#include "src/files/memory_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "src/base/error.hpp"
#include "src/files/locked_file.hpp"

namespace carbon {
namespace {

[[noreturn]] void fail(const std::string& what) {
  throw Error("memory_file", what + ": " + std::strerror(errno));
}

}  // namespace

MemoryFile::MemoryFile(const char* name) : fd_(memfd_create(name, MFD_CLOEXEC)) {
  if (fd_ < 0) fail("cannot make a file in memory");
  path_ = "/proc/self/fd/" + std::to_string(fd_);
  if (access(path_.c_str(), F_OK) == 0) return;
  ::close(fd_);
  path_ = folder_.emplace().file(name);
  fd_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd_ < 0) fail("cannot make the file " + path_);
}

MemoryFile::~MemoryFile() {
  ::close(fd_);
}

std::string MemoryFile::bytes() const {
  struct stat status {};
  if (fstat(fd_, &status) != 0) fail("cannot read a file in memory");
  std::string bytes(static_cast<size_t>(status.st_size), '\0');
  if (read_at(fd_, bytes.data(), bytes.size(), 0) != status.st_size) fail("cannot read a file in memory");
  return bytes;
}

}  // namespace carbon
