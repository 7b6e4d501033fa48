// Lists as text: parts with a separator between them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace carbon {

/// The parts of a text between separators: one more than there are separators, so one of an empty text.
inline void split(std::string_view text, char separator, std::vector<std::string_view>& parts) {
  parts.clear();
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(separator, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
}
inline std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  split(text, separator, parts);
  return parts;
}

/// The words of a text, which blanks and tabs separate.
inline std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (size_t end = 0, at; (at = text.find_first_not_of(" \t", end)) != std::string_view::npos;) {
    end = std::min(text.find_first_of(" \t", at), text.size());
    words.push_back(text.substr(at, end - at));
  }
  return words;
}

/// The texts of the items, such as "a, b, c". `text_of` is a function or a member.
template <class Items, class TextOf = std::identity>
std::string joined(const Items& items, std::string_view separator, TextOf text_of = {}) {
  std::string text;
  bool first = true;
  for (const auto& item : items) {
    if (!first) text += separator;
    first = false;
    text += std::invoke(text_of, item);
  }
  return text;
}

/// "a", "a and b", "a, b and c", with `last` for "and".
inline std::string word_list(const std::vector<std::string>& words, const std::string& last) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i)
    text += (i == 0 ? "" : i + 1 < words.size() ? ", " : " " + last + " ") + words[i];
  return text;
}
inline std::string or_list(const std::vector<std::string>& words) {
  return word_list(words, "or");
}
inline std::string and_list(const std::vector<std::string>& words) {
  return word_list(words, "and");
}

/// The first of a list that may be long: "a, ...", or "a" if it is alone.
inline std::string first_of_list(const std::vector<std::string>& words) {
  return words.empty() ? "" : words.front() + (words.size() > 1 ? ", ..." : "");
}

}  // namespace carbon
