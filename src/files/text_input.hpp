// Reads bytes and lines of a text file (plain, gzip or BGZF) in blocks, and checks that the file is complete.
//
// Several line readers of htslib 1.16 accept a cut BGZF file as a shorter one. So all files of this room are
// read through TextInput, which does not know their formats.
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
  /// Opens `path`, or stdin for "-". `function` names the caller in messages. Reading throws Error for a text
  /// that begins with a byte-order mark, as editors of Windows write one.
  TextInput(const std::string& path, const std::string& function);
  /// Continues, after `lines_read` lines, to read a stream that htslib has opened, with lines as long as
  /// htslib can parse. Exactly one of `bgzf` and `plain` is not null; the caller keeps and closes it.
  TextInput(const std::string& path, const std::string& function, BGZF* bgzf, hFILE* plain,
            int64_t lines_read);
  ~TextInput();
  TextInput(const TextInput&) = delete;
  TextInput& operator=(const TextInput&) = delete;

  /// Reads the next line, without its newline and a '\r' before that. Returns false at the end, after
  /// checking that the stream is complete.
  bool line(std::string& text);
  /// The bytes in the buffer, or the next block if there are none; empty at the checked end of the stream.
  /// consume() removes bytes from the buffer.
  std::string_view peek();
  void consume(size_t count) { begin_ += count; }

  /// The number of lines read. line() counts them; a user of peek() calls count_line().
  int64_t line_number() const { return line_number_; }
  void count_line() { ++line_number_; }
  /// False if the last line returned had no newline, because the stream ended.
  bool newline_seen() const { return newline_seen_; }
  /// `path:line`, for messages.
  std::string where() const;

 private:
  void fill();
  void check_beginning();
  void check_end() const;

  std::string path_, function_;
  BGZF* bgzf_ = nullptr;
  hFILE* plain_ = nullptr;
  size_t longest_line_;
  bool owned_ = false, begun_ = false, ended_ = false, newline_seen_ = true;
  std::vector<char> buffer_;
  size_t begin_ = 0, end_ = 0;
  int64_t line_number_ = 0;
};

/// The whole text of a file. Throws Error, from `function`, if it has more than `most` bytes.
std::string read_text(const std::string& path, const std::string& function, size_t most);

}  // namespace carbon
