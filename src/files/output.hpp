// Output of results: to a file that appears only when it is complete, or directly to a stream
// (docs/conventions.md, "Output files").
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "src/files/run_files.hpp"
#include "src/files/temporary_files.hpp"

struct hFILE;

namespace carbon {

/// Prepares an incomplete output for its close: points `fd` at /dev/null and clears the error of htslib's
/// stream on it (null if there is none). The close then adds nothing to the output, but frees the memory.
void abandon_stream(int fd, hFILE* stream);

/// Whether an OutputPath claims its path, or its owner has done so, who writes to it more than once.
enum class PathClaim { own, of_owner };

/// The path of an output. If it leads, through symbolic links, to a regular file or to nothing, the output is
/// written to a temporary file in the same directory, which commit() renames. Without commit() the destructor
/// removes the temporary file. It has the permissions of the file that it replaces, or those of the umask.
/// Anything else ("-", a device, a FIFO, /dev/stdout, /dev/fd/N) is opened directly and never replaced.
class OutputPath {
 public:
  /// Throws Error if the path cannot be written, or if this would replace an input or another output of the
  /// run (run_files.hpp).
  explicit OutputPath(const std::string& path, TemporaryName name = TemporaryName::unique,
                      PathClaim claim = PathClaim::own);
  ~OutputPath();
  OutputPath(const OutputPath&) = delete;
  OutputPath& operator=(const OutputPath&) = delete;

  /// The path to open: the temporary file, or the path itself ("-" for stdout).
  const std::string& writable() const { return writable_; }
  /// Opens writable() for writing, a kept file for appending; the caller closes the descriptor. If the path
  /// names an open descriptor ("-", /dev/fd/N), a duplicate is returned, so closing it does not close
  /// standard output. Throws Error.
  int open() const;
  /// The final path as the user gave it, for messages.
  const std::string& shown() const { return shown_; }
  /// True if the path is written directly, without a temporary file.
  bool direct() const { return direct_; }
  /// Renames the temporary file to the target. Call it after the file was closed without an error.
  void commit();

 private:
  std::string shown_, writable_;
  TemporaryName name_;
  bool direct_ = false;
  int descriptor_ = -1;
  std::optional<OutputClaim> claim_;
  std::unique_ptr<TemporaryFile> temporary_;
};

/// Whether a path is a stream that cannot be rewound: "-", an open descriptor, a device or a FIFO.
bool is_stream(const std::string& path);
/// The absolute path of the file that an OutputPath of `path` would create or replace; "" if it would be
/// written directly. Throws Error as the constructor of OutputPath does.
std::string replaced_file(const std::string& path);

/// How a BGZF file is compressed. Its bytes depend on the level and on where blocks are ended.
struct BgzfOptions {
  int level = -1;   // 0..9; -1: htslib's default
  int threads = 0;  // that compress beside the one that writes; 0: this one compresses
};

/// An output that is being written, whatever its format. All functions throw Error if writing fails. In a
/// format whose index comes last, such as bigWig, only close() has work: an unfinished file is of no use.
class Output {
 public:
  virtual ~Output() = default;
  /// Ends a block of compressed output, if one is begun.
  virtual void end_block() {}
  /// Passes everything written so far to the file, which also ends a block.
  virtual void flush() {}
  /// Passes what was written so far on to a pipe or a terminal, if it is not compressed: where blocks of a
  /// compressed stream end must not depend on time.
  virtual void flush_for_reader() {}
  /// Flushes, closes and gives the file its name. Without this call no output file is left.
  virtual void close() = 0;
};

/// Buffered text output. A name that ends in .gz, .bgz or .bgzf makes a BGZF file. All functions throw Error
/// if writing fails.
class TextOutput final : public Output {
 public:
  explicit TextOutput(const std::string& path, TemporaryName name = TemporaryName::unique,
                      const BgzfOptions& compression = {}, PathClaim claim = PathClaim::own);
  ~TextOutput() override;
  TextOutput(const TextOutput&) = delete;
  TextOutput& operator=(const TextOutput&) = delete;

  void write(std::string_view text);
  /// True for a BGZF file.
  bool compressed() const;
  void end_block() override;
  void flush() override;
  void flush_for_reader() override;
  void close() override;
  /// close() in two steps, for files that are to appear together: finish() does everything except the
  /// renaming, which commit() does.
  void finish();
  void commit();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Writes a text that is the whole output of a run to standard output. Throws Error.
void write_standard_output(std::string_view text);

}  // namespace carbon
