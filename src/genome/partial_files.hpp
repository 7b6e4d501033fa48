// Files under a temporary name, removed when they are not completed, on signals as well.
//
// What ends the process on signals is declared in output.hpp. A PartialFile lies
// beside its target and becomes it by rename(); it knows nothing of what is written into it.
#pragma once

#include <sys/types.h>

#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace carbon {

/// A path that the signal handlers remove (as a file or as an empty directory) while this object lives.
class SignalCleanup {
 public:
  explicit SignalCleanup(const std::string& path);
  ~SignalCleanup();
  SignalCleanup(const SignalCleanup&) = delete;
  SignalCleanup& operator=(const SignalCleanup&) = delete;

 private:
  int slot_ = -1;
};

class PartialFile {
 public:
  /// Creates an empty file with a unique name in the directory of `target`. Permissions follow the umask, or
  /// are `mode` where given. `exclusive`: no other process makes one for `target`, so the name is always the
  /// same and the file that a killed process left is replaced. Null on failure, with the reason in `error`
  /// (an errno value).
  static std::unique_ptr<PartialFile> create(const std::string& target, std::optional<mode_t> mode,
                                             int& error, bool exclusive = false);
  ~PartialFile();

  const std::string& path() const { return path_; }
  /// Renames the file to its target; false (errno set) on failure.
  bool complete();

 private:
  PartialFile(std::string target, std::string path);

  std::string target_, path_;
  std::optional<SignalCleanup> cleanup_;
  bool present_ = false;
};

/// A new directory for this process alone, under $TMPDIR (default /tmp); removed with its files by the
/// destructor.
class PrivateDirectory {
 public:
  /// Throws Error when it cannot be made.
  PrivateDirectory();
  ~PrivateDirectory();
  const std::string& path() const { return path_; }
  /// The path of a file `name` in the directory, which the caller may create.
  std::string file(const std::string& name);

 private:
  std::string path_;
  std::vector<std::string> files_;
  std::list<SignalCleanup> cleanups_;
};

}  // namespace carbon
