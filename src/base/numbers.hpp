// Numbers as the text outputs print them.
#pragma once

#include <charconv>
#include <concepts>
#include <string>

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

/// A value of one base, like printf's %.6g.
inline void append_base_value(double value, std::string& text) {
  append_general(value, 6, text);
}

}  // namespace carbon
