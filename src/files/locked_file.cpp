#include "src/files/locked_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "src/base/error.hpp"
#include "src/base/files.hpp"

namespace carbon {

ssize_t read_at(int fd, char* into, size_t size, uint64_t offset) {
  size_t done = 0;
  while (done < size) {
    const ssize_t got = ::pread(fd, into + done, size - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return -1;
    if (got == 0) break;
    done += static_cast<size_t>(got);
  }
  return static_cast<ssize_t>(done);
}

LockedFile::LockedFile(std::string path, Log& log, std::optional<SignalCleanup>* created)
    : path_(std::move(path)), claim_(path_) {
  if (created && !path_exists(path_)) created->emplace(path_);
  for (;;) {
    fd_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
    if (fd_ < 0) fail(std::string("cannot be written: ") + std::strerror(errno));
    try {
      struct stat opened {
      }, named{};
      if (::fstat(fd_, &opened) != 0 || !S_ISREG(opened.st_mode))
        fail("not a regular file; move it away", {"or name another output with {-o}"});
      locked_ = ::flock(fd_, LOCK_EX | LOCK_NB) == 0;
      if (!locked_ && errno == EWOULDBLOCK)
        fail("another run is writing this output; wait for it", {"or name another output with {-o}"});
      if (!locked_) {
        log.warning("resume", path_ + ": this file system has no locks (" + std::strerror(errno) +
                                  "); make sure that no other run writes the same output");
      }
      // Another run that held the lock may have removed the file after it was opened here.
      if (::stat(path_.c_str(), &named) == 0 && named.st_ino == opened.st_ino &&
          named.st_dev == opened.st_dev)
        return;
    } catch (...) {
      ::close(fd_);
      throw;
    }
    ::close(std::exchange(fd_, -1));
  }
}

LockedFile::~LockedFile() {
  ::close(fd_);
}

uint64_t LockedFile::size() const {
  struct stat status {};
  if (::fstat(fd_, &status) != 0) fail(std::string("cannot be read: ") + std::strerror(errno));
  return static_cast<uint64_t>(status.st_size);
}

void LockedFile::cut(uint64_t size) {
  if (::ftruncate(fd_, static_cast<off_t>(size)) != 0)
    fail(std::string("cannot be cut: ") + std::strerror(errno));
}

void LockedFile::fail(const std::string& what, const Advice& advice) const {
  throw Error("resume", path_ + ": " + what, advice);
}

}  // namespace carbon
