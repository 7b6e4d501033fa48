// What the fuzz targets share: a folder in memory for the files of an input, inputs that consist of several
// files, and what counts as a good end.
//
// A target is a file NAME.cpp that defines run(). libFuzzer calls it with one input after the other
// (harness.cpp). A carbon::Error is a good end, because hostile files are to be refused. Everything else is a
// finding: a crash, a report of a sanitizer, another exception, a message of several lines, a broken
// require(), and an input that takes too long or too much memory.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace carbon::fuzz {

/// A folder under $TMPDIR, by default in memory (/dev/shm), removed at the end of the scope.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  /// Writes a file, with a hole of `zeros` bytes after the text, and returns its path. So the tensors of a
  /// model need no bytes in the input.
  std::string put(const std::string& name, std::string_view bytes, size_t zeros = 0) const;
  /// The same compressed as BGZF.
  std::string put_bgzf(const std::string& name, std::string_view bytes) const;
  /// Removes all files in it.
  void clear() const;

 private:
  std::string path_;
};

/// Defined by each target: reads `input`, which it may write to files in `folder`. The folder is empty, and
/// is cleared afterwards.
void run(std::string_view input, const Folder& folder);

/// The files of an input, which stand between lines "@@@@". There are always `count` of them; missing ones
/// are empty, and the last one takes the rest.
std::vector<std::string_view> split_files(std::string_view input, size_t count);

/// The lines of a text, at most `most`.
std::vector<std::string> split_lines(std::string_view text, size_t most = 64);

/// Calls `action` and returns true unless it throws an Error. For targets that try several things with one
/// input.
bool attempt(const std::function<void()>& action);

/// Ends the program with `what` if `condition` is false.
void require(bool condition, const char* what);

/// The bases of a FASTA with three contigs: c1, c2 and HLA:1 (a name with a colon). The seeds name them.
extern const char* const kFasta;

}  // namespace carbon::fuzz
