// Bytes and lines of a text file, plain, gzip or BGZF, read in blocks and checked to the end.
//
// The one place that decides whether an input stream was whole: htslib 1.16 takes a cut BGZF file for a short
// one in several of its line readers, so the genome files read their lines here. It knows no format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

struct BGZF;
struct hFILE;

namespace carbon {

class TextInput {
 public:
  /// Opens `path`, or stdin for "-". `function` names the caller in messages.
  TextInput(const std::string& path, const std::string& function);
  /// Reads on, after `lines_read` lines, from a stream that htslib has open; exactly one of the two is not
  /// null and stays the caller's.
  TextInput(const std::string& path, const std::string& function, BGZF* bgzf, hFILE* plain,
            int64_t lines_read);
  ~TextInput();
  TextInput(const TextInput&) = delete;
  TextInput& operator=(const TextInput&) = delete;

  /// The next line without its newline and without a '\r' before it; false at the verified end of the stream.
  bool line(std::string& text);
  /// What is buffered, or the next block; empty at the verified end. Bytes leave it by consume().
  std::string_view peek();
  void consume(size_t count) { begin_ += count; }

  /// Number of the line that line() returned last; count_line() is for users of peek().
  int64_t line_number() const { return line_number_; }
  void count_line() { ++line_number_; }
  /// False when the last line returned ended at the end of the stream instead of a newline.
  bool newline_seen() const { return newline_seen_; }
  /// `path:line`, for messages.
  std::string where() const;

 private:
  void fill();
  void check_end() const;

  std::string path_, function_;
  BGZF* bgzf_ = nullptr;
  hFILE* plain_ = nullptr;
  bool owned_ = false, ended_ = false, newline_seen_ = true;
  std::vector<char> buffer_;
  size_t begin_ = 0, end_ = 0;
  int64_t line_number_ = 0;
};

}  // namespace carbon
