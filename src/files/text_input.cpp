// Reads text files in blocks, with the checks of the end of a stream that htslib leaves to its callers.

#include "src/files/text_input.hpp"

#include <htslib/bgzf.h>
#include <htslib/hfile.h>

#include <cerrno>
#include <cstring>

#include "src/base/error.hpp"
#include "src/files/file_name.hpp"
#include "src/files/run_files.hpp"

namespace carbon {

namespace {

constexpr size_t block_size = 1 << 16;
// Far above the longest lines of tables and regions; and what htslib can parse of VCF, where a line of many
// samples and alleles has hundreds of millions of bytes.
constexpr size_t longest_line = size_t{1} << 29, longest_vcf_line = (size_t{1} << 31) - 2;

}  // namespace

TextInput::TextInput(const std::string& path, const std::string& function)
    : path_(split_index_name(path).file),
      function_(function),
      longest_line_(longest_line),
      owned_(true),
      buffer_(block_size) {
  check_url(path_, function);
  const std::string opened = input_to_open(path_, function);
  errno = 0;
  bgzf_ = bgzf_open(opened.c_str(), "r");
  if (!bgzf_) {
    const int code = errno;
    throw Error(function_, "cannot open " + path_ + ": " +
                               (code ? std::strerror(code) : "damaged gzip header") +
                               "; check the path and that the file is readable");
  }
}

TextInput::TextInput(const std::string& path, const std::string& function, BGZF* bgzf, hFILE* plain,
                     int64_t lines_read)
    : path_(path),
      function_(function),
      bgzf_(bgzf),
      plain_(plain),
      longest_line_(longest_vcf_line),
      begun_(lines_read > 0),
      buffer_(block_size),
      line_number_(lines_read) {}

TextInput::~TextInput() {
  // A failed close has nothing to report: errors of reading were noticed before.
  if (owned_ && bgzf_) (void)!bgzf_close(bgzf_);
}

std::string TextInput::where() const {
  return shown_path(path_) + ":" + std::to_string(line_number_);
}

void TextInput::fill() {
  begin_ = end_ = 0;
  if (ended_) return;
  errno = 0;
  // Of a plain stream line by line, because hread() would wait until a pipe has given it a whole block.
  const ssize_t got = bgzf_ ? bgzf_read(bgzf_, buffer_.data(), buffer_.size())
                            : hgetdelim(buffer_.data(), buffer_.size(), '\n', plain_);
  // If a damaged block follows good bytes in the same call, the good bytes are returned and the error code is
  // set.
  if (got < 0 || (bgzf_ && bgzf_->errcode)) {
    const int code = errno;
    std::string message = where() + ": reading failed after this line: ";
    message += bgzf_ && bgzf_->errcode
                   ? "the compressed data are cut or damaged; test the file with 'gzip -t' and copy it again"
                   : (code ? std::strerror(code) : "the data are cut or damaged");
    throw Error(function_, message);
  }
  end_ = static_cast<size_t>(got);
  if (got == 0) {
    ended_ = true;
    check_end();
  }
}

void TextInput::check_beginning() {
  if (begun_) return;
  begun_ = true;
  const std::string_view start = peek();
  const std::string shown = shown_path(path_);
  if (start.starts_with("\xef\xbb\xbf"))
    throw Error(function_,
                shown +
                    ": the text begins with a UTF-8 byte-order mark, which belongs to no line; remove "
                    "it, e.g. with sed '1s/^\\xEF\\xBB\\xBF//'");
  if (start.starts_with("\xff\xfe") || start.starts_with("\xfe\xff"))
    throw Error(function_, shown + ": the text is UTF-16; convert it with iconv -f UTF-16 -t UTF-8");
}

void TextInput::check_end() const {
  if (bgzf_ && bgzf_compression(bgzf_) == 2 && bgzf_->no_eof_block) {
    throw Error(function_,
                where() +
                    ": the BGZF end-of-file marker is missing after this line, so the file is probably "
                    "cut; copy it again or recompress it with bgzip");
  }
}

std::string_view TextInput::peek() {
  if (begin_ == end_) fill();
  check_beginning();
  return {buffer_.data() + begin_, end_ - begin_};
}

bool TextInput::line(std::string& text) {
  text.clear();
  if (peek().empty()) return false;
  newline_seen_ = false;
  while (!newline_seen_) {
    const std::string_view block = peek();
    if (block.empty()) break;
    const size_t newline = block.find('\n');
    newline_seen_ = newline != std::string_view::npos;
    const std::string_view part = block.substr(0, newline);
    // Before the text grows beyond the limit, which would take twice the memory.
    if (part.size() > longest_line_ - text.size()) {
      ++line_number_;
      throw Error(function_,
                  where() + ": the line is longer than " + std::to_string((longest_line_ + 2) >> 20) +
                      " MiB, " +
                      (owned_ ? "which no line of such a file is; check the path"
                              : "the most that htslib can read; write the file with fewer samples or "
                                "without large FORMAT fields such as PL"));
    }
    text.append(part);
    consume(newline_seen_ ? newline + 1 : block.size());
  }
  ++line_number_;
  if (!text.empty() && text.back() == '\r') text.pop_back();
  return true;
}

std::string read_text(const std::string& path, const std::string& function, size_t most) {
  TextInput input(path, function);
  std::string text;
  for (std::string_view block = input.peek(); !block.empty(); block = input.peek()) {
    if (block.size() > most - text.size())
      throw Error(function, path + ": larger than " + std::to_string(most) + " bytes");
    text.append(block);
    input.consume(block.size());
  }
  return text;
}

}  // namespace carbon
