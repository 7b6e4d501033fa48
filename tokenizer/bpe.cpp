// Byte-level BPE: added tokens, NFC, pre-tokenizer, merges by rank, and back; see bpe.hpp.
#include "tokenizer/bpe.hpp"

#include <functional>
#include <queue>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "tokenizer/bpe_files.hpp"
#include "tokenizer/unicode.hpp"

namespace carbon {

struct Bpe::Impl {
  BpeFiles files;
  std::unordered_map<uint64_t, uint32_t> rank_of_pair;  // left << 32 | right -> index into files.merges

  explicit Impl(BpeFiles read);
  void encode_plain(std::string_view text, std::vector<uint32_t>& ids) const;
  void encode_piece(std::string_view bytes, std::vector<uint32_t>& ids) const;
};

namespace {

constexpr size_t kNone = SIZE_MAX;
constexpr uint32_t kDead =
    UINT32_MAX;  // the id of a symbol that was merged away; no vocabulary is that large

/// One symbol of a piece while it is merged. The symbols of a piece are a doubly linked list in a vector.
struct Symbol {
  uint32_t id;
  size_t previous, next;
};

/// A merge that was possible when it was queued. Lowest rank first, then leftmost.
struct Candidate {
  uint32_t rank;
  size_t position;
  bool operator>(const Candidate& other) const {
    return std::tie(rank, position) > std::tie(other.rank, other.position);
  }
};

// The alternatives of the expression of the pre-tokenizer are tried in its order.
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

uint64_t pair_key(uint32_t left, uint32_t right) {
  return uint64_t{left} << 32 | right;
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

Bpe::Impl::Impl(BpeFiles read) : files(std::move(read)) {
  rank_of_pair.reserve(files.merges.size());
  for (size_t rank = 0; rank < files.merges.size(); ++rank)
    rank_of_pair.emplace(pair_key(files.merges[rank].left, files.merges[rank].right),
                         static_cast<uint32_t>(rank));
}

void Bpe::Impl::encode_piece(std::string_view bytes, std::vector<uint32_t>& ids) const {
  std::vector<Symbol> symbols;
  symbols.reserve(bytes.size());
  for (size_t i = 0; i < bytes.size(); ++i)
    symbols.push_back({files.byte_token[static_cast<unsigned char>(bytes[i])], i == 0 ? kNone : i - 1,
                       i + 1 == bytes.size() ? kNone : i + 1});

  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> queue;
  const auto offer = [&](size_t left) {
    if (left == kNone || symbols[left].next == kNone) return;
    const auto place = rank_of_pair.find(pair_key(symbols[left].id, symbols[symbols[left].next].id));
    if (place != rank_of_pair.end()) queue.push({place->second, left});
  };
  for (size_t i = 0; i + 1 < symbols.size(); ++i) offer(i);

  while (!queue.empty()) {
    const auto [rank, position] = queue.top();
    queue.pop();
    const BpeMerge& merge = files.merges[rank];
    Symbol& left = symbols[position];
    // Another merge may have changed the pair since it was queued.
    if (left.id != merge.left || left.next == kNone || symbols[left.next].id != merge.right) continue;
    Symbol& right = symbols[left.next];
    left.id = merge.result;
    left.next = right.next;
    if (right.next != kNone) symbols[right.next].previous = position;
    right.id = kDead;
    offer(left.previous);
    offer(position);
  }
  for (size_t i = symbols.empty() ? kNone : 0; i != kNone; i = symbols[i].next) ids.push_back(symbols[i].id);
}

void Bpe::Impl::encode_plain(std::string_view text, std::vector<uint32_t>& ids) const {
  const std::u32string normalized = nfc(code_points(text));
  std::string piece;
  for (size_t begin = 0; begin < normalized.size();) {
    const size_t end = pretoken_end(normalized, begin);
    piece.clear();
    for (; begin < end; ++begin) append_utf8(piece, normalized[begin]);
    encode_piece(piece, ids);
  }
}

Bpe::Bpe(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Bpe::Bpe(BpeFiles files) : Bpe(std::make_unique<Impl>(std::move(files))) {}
Bpe::Bpe(Bpe&&) noexcept = default;
Bpe& Bpe::operator=(Bpe&&) noexcept = default;
Bpe::~Bpe() = default;

Bpe Bpe::load(const std::string& path) {
  return Bpe(read_bpe_files(path));
}

bool Bpe::present(const std::string& path) {
  return bpe_files_present(path);
}

std::vector<uint32_t> Bpe::encode(std::string_view text) const {
  check_utf8(text, "encode_text");
  std::vector<uint32_t> ids;
  for (size_t begin = 0; begin < text.size();) {
    const AddedTokens::Match match = impl_->files.added.next(text, begin);
    const size_t plain_end = match.token ? match.position : text.size();
    impl_->encode_plain(text.substr(begin, plain_end - begin), ids);
    begin = plain_end;
    if (match.token) {
      ids.push_back(match.token->id);
      begin += match.token->text.size();
    }
  }
  return ids;
}

std::string Bpe::decode(const std::vector<uint32_t>& ids, bool skip_special) const {
  std::string bytes;
  for (const uint32_t id : ids) {
    if (const AddedToken* token = impl_->files.added.find(id)) {
      if (!skip_special || !token->special) bytes += token->text;
    } else if (id < impl_->files.tokens.size()) {
      bytes += impl_->files.tokens[id];
    }
  }
  return replace_invalid_utf8(bytes);
}

}  // namespace carbon
