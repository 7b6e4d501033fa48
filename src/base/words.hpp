// Words in what users write and read: the words that name the values of an enum, lists of words as text,
// counts of what a word names, and the words that somebody may have meant.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace carbon {

// The words by which users name the values of an enum. Each such enum has one table of them beside it, which
// options, header lines, requests and plugins read.

/// A line of a table of words.
template <class T>
using Word = std::pair<const char*, T>;

/// The word for a value that the table has.
template <class T, size_t N>
constexpr const char* word_of(const Word<T> (&words)[N], T value) {
  for (const auto& [word, named] : words)
    if (named == value) return word;
  return "";
}

/// The value that `text` names, if any.
template <class T, size_t N>
constexpr std::optional<T> value_of(const Word<T> (&words)[N], std::string_view text) {
  for (const auto& [word, named] : words)
    if (text == word) return named;
  return std::nullopt;
}

template <class T, size_t N>
std::vector<std::string> all_words(const Word<T> (&words)[N]) {
  std::vector<std::string> all;
  for (const auto& [word, named] : words) all.emplace_back(word);
  return all;
}

// Lists as text: parts with a separator between them.

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

// Counts as they are written in sentences.

/// The digits of a number with commas between thousands, before a decimal point if it has one.
inline std::string with_commas(std::string digits) {
  const size_t end = std::min(digits.find('.'), digits.size());
  for (size_t at = end; at > 3; at -= 3) digits.insert(at - 3, 1, ',');
  return digits;
}

/// 12,345.
inline std::string count_text(uint64_t count) {
  return with_commas(std::to_string(count));
}

/// A count with what is counted, for people who read a page: 1 row, 12,345 rows.
inline std::string plural(uint64_t count, const std::string& one) {
  return count_text(count) + " " + one + (count == 1 ? "" : "s");
}
/// With a verb: 1 row has, 12,345 rows have.
inline std::string plural(uint64_t count, const std::string& one, const char* has, const char* have) {
  return plural(count, one) + " " + (count == 1 ? has : have);
}

/// The same without commas, for messages, which programs read as well: 1 pass, 12345 passes. `ending` is that
/// of the plural.
inline std::string count_of(uint64_t count, const std::string& one, const std::string& ending = "s") {
  return std::to_string(count) + " " + one + (count == 1 ? "" : ending);
}

// Similar names, for messages about an unknown option, command, plugin or model.

/// The fewest letters to add, drop, replace or swap with their neighbour that turn `a` into `b` (the optimal
/// string alignment distance). Letters are bytes.
size_t edit_distance(const std::string& a, const std::string& b);

/// The names that differ from `word` in the fewest letters, in their order; none if even they differ in more
/// than a third of its letters (but at least one). Capital and small letters count as equal.
std::vector<std::string> near_names(const std::string& word, const std::vector<std::string>& names);

/// " (did you mean 'a' or 'b'?)" for up to three near names, or "".
std::string did_you_mean(const std::string& word, const std::vector<std::string>& names);

}  // namespace carbon
