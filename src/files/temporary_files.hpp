// Files that a run needs for a while: those under a temporary name, which are removed unless they are
// completed, also if a signal ends the process; private directories; and files in memory.
//
// A TemporaryFile is in the directory of its target and becomes it by rename(). It does not know what is
// written to it. The program installs the signal handlers, which call remove_unfinished_files().
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace carbon {

/// Removes the temporary files of all outputs and indexes that are being written. A signal handler may call
/// it.
void remove_unfinished_files();

/// While this object exists, the signal handlers remove the path, which is a file or an empty directory.
class SignalCleanup {
 public:
  explicit SignalCleanup(const std::string& path);
  ~SignalCleanup();
  SignalCleanup(const SignalCleanup&) = delete;
  SignalCleanup& operator=(const SignalCleanup&) = delete;

 private:
  int slot_ = -1;
};

/// The name of the temporary file, and what becomes of it.
enum class TemporaryName {
  unique,  // one that no other process uses
  // Always the same: the caller ensures that no other process writes the target. A file that a killed process
  // has left is replaced.
  fixed,
  // TARGET.partial, which the caller has made and may keep: it is appended to, and removed by nobody else.
  kept,
};

class TemporaryFile {
 public:
  /// Creates an empty file in the directory of `target`; of a kept one, takes what is there. Its permissions
  /// become `mode` if that can be set, or else the umask's. Returns null on failure, with errno in `error`.
  static std::unique_ptr<TemporaryFile> create(const std::string& target, std::optional<mode_t> mode,
                                               int& error, TemporaryName name = TemporaryName::unique);
  ~TemporaryFile();

  const std::string& path() const { return path_; }
  /// Renames the file to its target; false (errno set) on failure.
  bool complete();

 private:
  TemporaryFile(std::string target, std::string path);

  std::string target_, path_;
  std::optional<SignalCleanup> cleanup_;
  bool present_ = false;
};

/// A new directory under $TMPDIR (default /tmp) that only this process uses. The destructor removes it with
/// its files.
class PrivateDirectory {
 public:
  /// Throws Error if the directory cannot be made.
  PrivateDirectory();
  ~PrivateDirectory();
  const std::string& path() const { return path_; }
  /// The path of a file `name` in the directory. The caller creates the file.
  std::string file(const std::string& name);

 private:
  std::string path_;
  std::vector<std::string> files_;
  std::list<SignalCleanup> cleanups_;
};

/// A file in memory, for libraries that write to a name and read from one. It has a name for this process
/// only, and is gone with the object.
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

/// Reads until `size` bytes or the end of the file, from byte `offset`; returns how many bytes, -1 on
/// failure.
ssize_t read_at(int fd, char* into, size_t size, uint64_t offset);
/// Writes all bytes, where the file is at or from byte `offset` on; false on failure, with errno.
bool write_all(int fd, const char* from, size_t size, std::optional<uint64_t> offset = std::nullopt);

}  // namespace carbon
