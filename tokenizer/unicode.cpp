// Unicode helpers of the tokenizer on top of utf8proc; see unicode.hpp.
#include "tokenizer/unicode.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <vector>

#include "src/base/error.hpp"

namespace carbon {

namespace {

struct Decoded {
  char32_t value = 0;
  size_t length = 1;  // in bytes; for an invalid sequence that of its longest valid beginning, at least 1
  bool valid = false;
};

Decoded decode_one(std::string_view text, size_t position) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(position);
  if (lead < 0x80) return {lead, 1, true};
  size_t length = 0;
  char32_t value = 0;
  // After some first bytes the range of the second byte is narrower. That excludes overlong forms, surrogates
  // and values above U+10FFFF.
  unsigned low = 0x80, high = 0xBF;
  if (lead >= 0xC2 && lead <= 0xDF) {
    length = 2;
    value = lead & 0x1F;
  } else if (lead >= 0xE0 && lead <= 0xEF) {
    length = 3;
    value = lead & 0x0F;
    if (lead == 0xE0) low = 0xA0;
    if (lead == 0xED) high = 0x9F;
  } else if (lead >= 0xF0 && lead <= 0xF4) {
    length = 4;
    value = lead & 0x07;
    if (lead == 0xF0) low = 0x90;
    if (lead == 0xF4) high = 0x8F;
  } else {
    return {};
  }
  for (size_t i = 1; i < length; ++i) {
    if (i >= text.size() - position || byte(position + i) < low || byte(position + i) > high)
      return {0, i, false};
    value = value << 6 | (byte(position + i) & 0x3F);
    low = 0x80;
    high = 0xBF;
  }
  return {value, length, true};
}

unsigned combining_class(utf8proc_int32_t c) {
  return utf8proc_get_property(c)->combining_class;
}

}  // namespace

void check_utf8(std::string_view text, const std::string& function) {
  for (size_t position = 0; position < text.size();) {
    const Decoded decoded = decode_one(text, position);
    if (!decoded.valid)
      throw Error(function, "the text is not valid UTF-8 at byte offset " + std::to_string(position) +
                                "; convert the input to UTF-8");
    position += decoded.length;
  }
}

char32_t next_code_point(std::string_view text, size_t& position) {
  const Decoded decoded = decode_one(text, position);
  position += decoded.length;
  return decoded.value;
}

std::u32string code_points(std::string_view text) {
  std::u32string result;
  result.reserve(text.size());
  for (size_t position = 0; position < text.size();) result.push_back(next_code_point(text, position));
  return result;
}

void append_utf8(std::string& out, char32_t c) {
  utf8proc_uint8_t bytes[4];
  const utf8proc_ssize_t length = utf8proc_encode_char(static_cast<utf8proc_int32_t>(c), bytes);
  out.append(reinterpret_cast<const char*>(bytes),
             static_cast<size_t>(std::max<utf8proc_ssize_t>(length, 0)));
}

std::string replace_invalid_utf8(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  for (size_t position = 0; position < bytes.size();) {
    const Decoded decoded = decode_one(bytes, position);
    if (decoded.valid)
      out.append(bytes.substr(position, decoded.length));
    else
      append_utf8(out, 0xFFFD);
    position += decoded.length;
  }
  return out;
}

bool is_letter(char32_t c) {
  if (c < 0x80) return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(c))) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
      return true;
    default:
      return false;
  }
}

bool is_number(char32_t c) {
  if (c < 0x80) return c >= '0' && c <= '9';
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(c))) {
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
      return true;
    default:
      return false;
  }
}

bool is_white_space(char32_t c) {
  return (c >= 0x09 && c <= 0x0D) || c == 0x20 || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F ||
         c == 0x3000;
}

bool is_python_space(char32_t c) {
  return (c >= 0x1C && c <= 0x1F) || is_white_space(c);
}

void append_python_upper(std::u32string& out, char32_t c) {
  if (c < 0x80) {
    out.push_back(c >= 'a' && c <= 'z' ? c - ('a' - 'A') : c);
    return;
  }
  const auto code = static_cast<utf8proc_int32_t>(c);
  // utf8proc has only simple upper-casing, of one code point to one. The letters that become several code
  // points in full upper-casing are those that do so in full case folding, except the capitals U+0130 and
  // U+1E9E. They become the capitals of the letters that they fold to.
  utf8proc_int32_t folded[8];
  int boundary_class = 0;
  const utf8proc_ssize_t count = utf8proc_decompose_char(code, folded, 8, UTF8PROC_CASEFOLD, &boundary_class);
  if (count > 1 && count <= 8 && utf8proc_category(code) != UTF8PROC_CATEGORY_LU) {
    for (utf8proc_ssize_t i = 0; i < count; ++i)
      out.push_back(static_cast<char32_t>(utf8proc_toupper(folded[i])));
  } else {
    out.push_back(static_cast<char32_t>(utf8proc_toupper(code)));
  }
}

std::u32string nfc(std::u32string_view text) {
  // Without a code point of U+0300 or above nothing composes or decomposes.
  if (std::all_of(text.begin(), text.end(), [](char32_t c) { return c < 0x300; }))
    return std::u32string(text);

  std::vector<utf8proc_int32_t> buffer;
  buffer.reserve(text.size() * 2);
  int boundary_class = 0;
  for (const char32_t c : text) {
    utf8proc_int32_t parts[8];
    const utf8proc_ssize_t count = utf8proc_decompose_char(
        static_cast<utf8proc_int32_t>(c), parts, 8,
        static_cast<utf8proc_option_t>(UTF8PROC_DECOMPOSE | UTF8PROC_STABLE), &boundary_class);
    if (count < 0 || count > 8)
      throw Error("nfc", "utf8proc cannot decompose code point " + std::to_string(c));
    buffer.insert(buffer.end(), parts, parts + count);
  }
  // Canonical order. utf8proc sorts by exchanging neighbours, which takes quadratic time for many marks.
  for (auto begin = buffer.begin(); begin != buffer.end();) {
    if (combining_class(*begin) == 0) {
      ++begin;
      continue;
    }
    const auto end = std::find_if(begin, buffer.end(), [](auto c) { return combining_class(c) == 0; });
    std::stable_sort(begin, end, [](auto a, auto b) { return combining_class(a) < combining_class(b); });
    begin = end;
  }
  const utf8proc_ssize_t length =
      utf8proc_normalize_utf32(buffer.data(), static_cast<utf8proc_ssize_t>(buffer.size()),
                               static_cast<utf8proc_option_t>(UTF8PROC_COMPOSE | UTF8PROC_STABLE));
  if (length < 0) throw Error("nfc", std::string("utf8proc: ") + utf8proc_errmsg(length));
  return {buffer.begin(), buffer.begin() + length};
}

}  // namespace carbon
