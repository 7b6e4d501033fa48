// What the tokenizer needs of Unicode: UTF-8, character classes, Python's str.upper() and str.strip(), NFC.
//
// A thin layer over utf8proc, not a general text library. All functions are pure and take linear time.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace carbon {

/// Throws Error(function) with the offset of the first byte that does not begin a valid UTF-8 sequence.
void check_utf8(std::string_view text, const std::string& function);
/// The code point at `position` of valid UTF-8; moves `position` to the next one.
char32_t next_code_point(std::string_view text, size_t& position);
/// Code points of valid UTF-8.
std::u32string code_points(std::string_view text);
/// Appends one code point as UTF-8.
void append_utf8(std::string& out, char32_t c);
/// `bytes` with each maximal invalid part replaced by U+FFFD (as Python's errors="replace").
std::string replace_invalid_utf8(std::string_view bytes);

/// General category L*.
bool is_letter(char32_t c);
/// General category N*.
bool is_number(char32_t c);
/// The White_Space property: what `\s` matches.
bool is_white_space(char32_t c);
/// White space for Python's str.isspace() and str.strip(): White_Space and U+001C..001F.
bool is_python_space(char32_t c);

/// Appends Python's upper() of one code point: one to three code points (U+00DF gives "SS").
void append_python_upper(std::u32string& out, char32_t c);
/// Canonical composition (NFC).
std::u32string nfc(std::u32string_view text);

}  // namespace carbon
