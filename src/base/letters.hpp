// Letters of ASCII, whatever the locale of the process is: in Turkish the small letter of I is not i, and in
// many locales bytes above 127 are letters, too.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace carbon {

constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
constexpr bool is_small_letter(char c) {
  return c >= 'a' && c <= 'z';
}
constexpr bool is_capital_letter(char c) {
  return c >= 'A' && c <= 'Z';
}
constexpr bool is_ascii_letter(char c) {
  return is_small_letter(c) || is_capital_letter(c);
}
constexpr bool is_letter_or_digit(char c) {
  return is_ascii_letter(c) || is_digit(c);
}
/// Space, tab, line feed, vertical tab, form feed and carriage return.
constexpr bool is_space(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}
constexpr bool is_control(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

constexpr char small_letter(char c) {
  return is_capital_letter(c) ? static_cast<char>(c - 'A' + 'a') : c;
}
constexpr char capital_letter(char c) {
  return is_small_letter(c) ? static_cast<char>(c - 'a' + 'A') : c;
}
inline std::string small_letters(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), small_letter);
  return text;
}

/// Whether two texts are equal but for small and capital letters.
inline bool equal_letters(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return small_letter(x) == small_letter(y); });
}
/// Whether a text ends with `end`, but for small and capital letters.
inline bool ends_with_letters(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && equal_letters(text.substr(text.size() - end.size()), end);
}

}  // namespace carbon
