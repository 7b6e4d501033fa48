#include "src/formats/npy.hpp"

#include <algorithm>
#include <charconv>
#include <vector>

#include "src/base/error.hpp"
#include "src/base/json.hpp"

namespace carbon {
namespace {

[[noreturn]] void fail(const std::string& path, const std::string& what) {
  throw Error("parse_npy_header", path + ": " + what);
}

// The dictionary of a .npy header: a literal of Python with three keys.
class NpyDictionary {
 public:
  NpyDictionary(std::string_view text, const std::string& path) : text_(text), path_(path) {
    expect('{');
    while (!seen('}')) {
      const std::string_view key = quoted();
      expect(':');
      if (key == "descr")
        type_ = quoted();
      else if (key == "fortran_order")
        fortran_ = word();
      else if (key == "shape")
        read_shape();
      else
        damaged();
      if (!seen(',')) {
        expect('}');
        break;
      }
    }
    skip_spaces();
    if (at_ != text_.size() || type_.empty() || fortran_.empty() || !shaped_) damaged();
  }

  std::string_view type() const { return type_; }
  std::string_view fortran() const { return fortran_; }
  const std::vector<uint64_t>& shape() const { return shape_; }

 private:
  [[noreturn]] void damaged() const { fail(path_, "the header of this .npy file is damaged"); }
  void skip_spaces() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
  }
  bool seen(char c) {
    skip_spaces();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!seen(c)) damaged();
  }
  std::string_view quoted() {
    const char quote = seen('\'') ? '\'' : seen('"') ? '"' : '\0';
    const size_t end = quote == '\0' ? std::string_view::npos : text_.find(quote, at_);
    if (end == std::string_view::npos) damaged();
    const std::string_view out = text_.substr(at_, end - at_);
    at_ = end + 1;
    return out;
  }
  std::string_view word() {
    skip_spaces();
    const size_t end = std::min(text_.find_first_of(",} \n", at_), text_.size());
    const std::string_view out = text_.substr(at_, end - at_);
    at_ = end;
    return out;
  }
  void read_shape() {
    shaped_ = true;
    shape_.clear();
    expect('(');
    while (!seen(')')) {
      uint64_t size = 0;
      skip_spaces();
      const auto [stop, problem] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), size);
      if (problem != std::errc() || shape_.size() > 8) damaged();
      shape_.push_back(size);
      at_ = static_cast<size_t>(stop - text_.data());
      if (!seen(',')) {
        expect(')');
        break;
      }
    }
  }

  std::string_view text_;
  const std::string& path_;
  size_t at_ = 0;
  std::string_view type_, fortran_;
  std::vector<uint64_t> shape_;
  bool shaped_ = false;
};

}  // namespace

NpyHeader parse_npy_header(std::string_view bytes, const std::string& path) {
  const auto byte = [&](size_t i) { return static_cast<size_t>(static_cast<uint8_t>(bytes[i])); };
  if (bytes.size() < 12 || !is_npy(bytes)) fail(path, "the file is too short for a .npy file");
  const size_t version = byte(6), start = version == 1 ? 10 : 12;
  if (version < 1 || version > 3 || byte(7) != 0)
    fail(path, "version " + std::to_string(version) + "." + std::to_string(byte(7)) +
                   " of the .npy format is not known; those from 1.0 to 3.0 are");
  size_t length = byte(8) | byte(9) << 8;
  if (version > 1) length |= byte(10) << 16 | byte(11) << 24;
  if (length > bytes.size() - start)
    fail(path, "the header claims " + std::to_string(length) +
                   " bytes; the file is cut, or is no matrix of carbon embed");
  const NpyDictionary header(bytes.substr(start, length), path);
  if (header.type() != "<f4" && header.type() != "<f2")
    fail(path,
         "the values have type '" + printable(header.type()) + "'; carbon embed writes '<f4' and '<f2'");
  if (header.fortran() != "False")
    fail(path, "the array is not in C order (fortran_order is '" + printable(header.fortran()) + "')");
  if (header.shape().size() != 2)
    fail(path, "the array has " + std::to_string(header.shape().size()) + " dimensions; a matrix has 2");
  return {header.type() == "<f2", header.shape()[0], header.shape()[1], start + length};
}

}  // namespace carbon
