// A file beside an output that one run at a time may use: FILE.partial, from which an interrupted run is
// continued.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "src/base/error.hpp"
#include "src/base/log.hpp"
#include "src/files/run_files.hpp"
#include "src/files/temporary_files.hpp"

namespace carbon {

/// Reads until `size` bytes or the end of the file, from byte `offset`; returns how many bytes, -1 on
/// failure.
ssize_t read_at(int fd, char* into, size_t size, uint64_t offset);

class LockedFile {
 public:
  /// Opens or creates the file for reading and appending, and locks it. Throws Error if another run has
  /// locked it, if it is not a regular file, or if it is an input or another output of this run. Warns if the
  /// file system has no locks. If there is no such file yet, `created` gets its cleanup before the file is
  /// created, so that no signal leaves it empty.
  LockedFile(std::string path, Log& log, std::optional<SignalCleanup>* created = nullptr);
  ~LockedFile();
  LockedFile(const LockedFile&) = delete;
  LockedFile& operator=(const LockedFile&) = delete;

  const std::string& path() const { return path_; }
  int fd() const { return fd_; }
  /// False if the file system has no locks.
  bool locked() const { return locked_; }

  /// All functions throw Error, which names the file.
  uint64_t size() const;
  void cut(uint64_t size);
  [[noreturn]] void fail(const std::string& what, const Advice& advice = {}) const;

 private:
  std::string path_;
  OutputClaim claim_;
  int fd_ = -1;
  bool locked_ = false;
};

}  // namespace carbon
