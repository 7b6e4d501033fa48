// The pre-tokenizer scanner; see pretokenizer.hpp. The alternatives of the expression are tried in its order.
#include "tokenizer/pretokenizer.hpp"

#include "tokenizer/unicode.hpp"

namespace carbon {

namespace {

constexpr std::u32string_view kContractions[] = {U"s", U"t", U"re", U"ve", U"m", U"ll", U"d"};
constexpr char32_t kLongS = 0x17F;  // the only non-ASCII letter that folds to one of the letters above

char32_t fold(char32_t c) {
  if (c >= 'A' && c <= 'Z') return c + ('a' - 'A');
  return c == kLongS ? U's' : c;
}

/// Length of the contraction after an apostrophe, 0 if there is none.
size_t contraction_length(std::u32string_view rest) {
  for (const std::u32string_view word : kContractions) {
    if (rest.size() < word.size()) continue;
    size_t same = 0;
    while (same < word.size() && fold(rest[same]) == word[same]) ++same;
    if (same == word.size()) return same;
  }
  return 0;
}

bool is_newline(char32_t c) {
  return c == '\r' || c == '\n';
}
bool is_symbol(char32_t c) {
  return !is_white_space(c) && !is_letter(c) && !is_number(c);
}

template <class Predicate>
size_t run_end(std::u32string_view text, size_t begin, Predicate holds) {
  while (begin < text.size() && holds(text[begin])) ++begin;
  return begin;
}

}  // namespace

size_t pretoken_end(std::u32string_view text, size_t begin) {
  const char32_t c = text[begin];
  if (c == '\'') {
    const size_t length = contraction_length(text.substr(begin + 1));
    if (length > 0) return begin + 1 + length;
  }

  const size_t word = is_letter(c) || is_number(c) || is_newline(c) ? begin : begin + 1;
  if (word < text.size() && is_letter(text[word])) return run_end(text, word, is_letter);

  if (is_number(c)) return begin + 1;

  const size_t symbols = c == ' ' ? begin + 1 : begin;
  if (symbols < text.size() && is_symbol(text[symbols]))
    return run_end(text, run_end(text, symbols, is_symbol), is_newline);

  const size_t space_end = run_end(text, begin, is_white_space);
  for (size_t i = space_end; i > begin; --i)
    if (is_newline(text[i - 1])) return i;
  // The last space before a word stays with the word.
  return space_end < text.size() && space_end - begin > 1 ? space_end - 1 : space_end;
}

}  // namespace carbon
