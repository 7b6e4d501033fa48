// The words by which users name the values of an enum. Each such enum has one table of them beside it, which
// options, header lines, requests and plugins read.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace carbon {

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

}  // namespace carbon
