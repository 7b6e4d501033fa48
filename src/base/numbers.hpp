// Numbers as text, written and read without the locale of the process: a host of the library may have one in
// which 0.5 is 0,5. The functions of the C library that know a locale are not used anywhere
// (test/check_locale.py).
#pragma once

#include <charconv>
#include <concepts>
#include <string>
#include <string_view>

namespace carbon {

template <std::integral T>
void append_integer(T value, std::string& text) {
  char digits[24];
  text.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
}

/// Like printf's %.<digits>g, of up to 17 digits.
inline void append_general(double value, int digits, std::string& text) {
  char number[40];
  text.append(number,
              std::to_chars(number, number + sizeof number, value, std::chars_format::general, digits).ptr);
}
inline std::string general_text(double value, int digits) {
  std::string text;
  append_general(value, digits, text);
  return text;
}
/// %.17g: enough digits for every double, so that it reads back as the same number.
inline std::string exact_text(double value) {
  return general_text(value, 17);
}

/// The fewest digits that read back as the same number.
template <std::floating_point T>
void append_shortest(T value, std::string& text) {
  char number[32];
  text.append(number, std::to_chars(number, number + sizeof number, value).ptr);
}
inline std::string shortest_text(double value) {
  std::string text;
  append_shortest(value, text);
  return text;
}

/// Like printf's %.<decimals>f, of up to 17 decimals.
inline std::string fixed_text(double value, int decimals) {
  char number[340];  // the largest double has 309 digits before the point
  return {number,
          std::to_chars(number, number + sizeof number, value, std::chars_format::fixed, decimals).ptr};
}

/// A value of one base, like printf's %.6g.
inline void append_base_value(double value, std::string& text) {
  append_general(value, 6, text);
}

/// At least `digits` hexadecimal digits, like printf's %0<digits>x.
inline std::string hex_text(unsigned long long value, size_t digits) {
  char number[16];
  const std::string text(number, std::to_chars(number, number + sizeof number, value, 16).ptr);
  return std::string(text.size() < digits ? digits - text.size() : 0, '0') + text;
}

/// Reads the whole text as a number. Returns false if it is none.
template <class T>
bool parse_number(std::string_view text, T& value) {
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  return problem == std::errc() && end == text.data() + text.size();
}

}  // namespace carbon
