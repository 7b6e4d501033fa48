// Where results go: a file that appears only when complete, or a stream that is written as it comes (contract
// section 2).
#pragma once

#include <memory>
#include <string>
#include <string_view>

struct hFILE;

namespace carbon {

class PartialFile;

/// Handlers for SIGINT, SIGTERM and SIGHUP that remove temporary files before the signal ends the process.
void remove_partial_outputs_on_signals();
/// Removes temporary files and ends the process, without unwinding, as one that `number` (SIGTERM, SIGINT,
/// SIGHUP) has stopped: with status 128 + number, or for SIGINT by the signal itself.
[[noreturn]] void end_by_signal(int number);
/// Removes temporary files and ends the process by the signal. Safe in a handler, which must return soon
/// after.
void die_by_signal(int number);

/// Before closing htslib's stream on `fd` (null: none) without completing it: points `fd` at /dev/null and
/// clears the stream's error, so that the close adds nothing to the output and frees its memory.
void abandon_stream(int fd, hFILE* stream);

/// The rule for `-o PATH`. A path that, symbolic links resolved, is absent or a regular file is written under
/// a temporary name beside it and renamed by commit(); without commit() the destructor removes the temporary
/// file. Anything else ("-", a device, a FIFO, /dev/stdout, /dev/fd/N) is opened directly and never replaced.
/// The temporary file has the permissions of the file it replaces, else those of the umask.
class OutputPath {
 public:
  /// `exclusive`: as that of PartialFile::create().
  explicit OutputPath(const std::string& path, bool exclusive = false);
  ~OutputPath();
  OutputPath(const OutputPath&) = delete;
  OutputPath& operator=(const OutputPath&) = delete;

  /// What to open: the temporary name, or the path itself ("-" for stdout).
  const std::string& writable() const { return writable_; }
  /// Opens writable() for writing; the caller closes the descriptor. An open descriptor named by the path
  /// ("-", /dev/fd/N) is duplicated, so closing never closes standard output itself. Throws Error.
  int open() const;
  /// The final path as the user gave it, for messages.
  const std::string& shown() const { return shown_; }
  bool direct() const { return direct_; }
  /// Renames the temporary file over the target; call after a checked close.
  void commit();

 private:
  std::string shown_, writable_;
  bool direct_ = false;
  int descriptor_ = -1;
  std::unique_ptr<PartialFile> partial_;
};

/// Whether a path is written as it comes, with no way back to its beginning: "-", an open descriptor, a
/// device, a FIFO.
bool is_stream(const std::string& path);
/// The absolute path of the file that an OutputPath of `path` would replace; "" if it would be written
/// directly. Throws Error for what no OutputPath can be made of.
std::string replaced_file(const std::string& path);

/// Buffered text output; `.gz`/`.bgz` names are BGZF. Every write and close is checked and throws Error.
class TextOutput {
 public:
  /// `exclusive`: as that of OutputPath.
  explicit TextOutput(const std::string& path, bool exclusive = false);
  ~TextOutput();
  TextOutput(const TextOutput&) = delete;
  TextOutput& operator=(const TextOutput&) = delete;

  void write(std::string_view text);
  /// Hands on what was written so far.
  void flush();
  /// Flushes, closes, checks and commits. Without it nothing of the file remains.
  void close();
  /// close() in two steps, for files that are to appear together: all but the renaming, and that.
  void finish();
  void commit();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace carbon
