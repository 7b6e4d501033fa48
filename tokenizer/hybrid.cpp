// Splits text into DNA regions and other text, encodes each, and decodes ids; see hybrid.hpp.
#include "tokenizer/hybrid.hpp"

#include <algorithm>
#include <utility>

#include "src/base/error.hpp"
#include "tokenizer/bpe_files.hpp"
#include "tokenizer/token_text.hpp"
#include "tokenizer/unicode.hpp"

namespace carbon {

namespace {

constexpr std::string_view kDnaBegin = "<dna>", kDnaEnd = "</dna>", kOov = "<oov>";
constexpr char kNeedFiles[] =
    "needs the BPE files (tokenizer.json, or a directory with vocab.json and merges.txt)";

bool has_released_text(const TokenLayout& layout) {
  return layout.first == TokenLayout{}.first;
}

std::string_view python_strip(std::string_view text) {
  while (!text.empty()) {
    size_t next = 0;
    if (!is_python_space(next_code_point(text, next))) break;
    text.remove_prefix(next);
  }
  while (!text.empty()) {
    size_t last = text.size() - 1;
    while (last > 0 && (static_cast<unsigned char>(text[last]) & 0xC0) == 0x80) --last;
    size_t next = last;
    if (!is_python_space(next_code_point(text, next))) break;
    text.remove_suffix(text.size() - last);
  }
  return text;
}

/// The upper-cased text with one byte for each code point: the base, or N. 6-mers are counted in code points.
std::string bases_of(std::string_view text) {
  std::string bases;
  bases.reserve(text.size());
  std::u32string upper;
  for (size_t position = 0; position < text.size();) {
    upper.clear();
    append_python_upper(upper, next_code_point(text, position));
    for (const char32_t c : upper)
      bases.push_back(c < 0x80 && base_digit(static_cast<char>(c)) >= 0 ? static_cast<char>(c) : 'N');
  }
  return bases;
}

void append(Encoding& out, uint32_t id, int mask) {
  out.ids.push_back(id);
  out.mask.push_back(static_cast<int8_t>(mask));
}

void encode_region(std::string_view segment, const TokenLayout& layout, Encoding& out) {
  const bool has_begin = segment.starts_with(kDnaBegin);
  if (has_begin) segment.remove_prefix(kDnaBegin.size());
  const bool has_end = segment.ends_with(kDnaEnd);
  if (has_end) segment.remove_suffix(kDnaEnd.size());

  if (has_begin) append(out, layout.begin(), 0);
  const std::string bases = bases_of(python_strip(segment));
  const std::vector<uint32_t> ids = encode_kmers(bases, layout);
  const int whole = static_cast<int>(layout.bases());
  const int tail = static_cast<int>(bases.size() % layout.bases());
  for (size_t i = 0; i < ids.size(); ++i) {
    const bool padded = tail != 0 && i + 1 == ids.size();
    append(out, ids[i], ids[i] == layout.oov() ? 0 : padded ? tail : whole);
  }
  if (has_end) append(out, layout.separator(), 0);
}

std::string dna_text(uint32_t id, const TokenLayout& layout) {
  if (id == layout.begin()) return std::string(kDnaBegin);
  if (id == layout.separator()) return std::string(kDnaEnd);
  if (id == layout.oov()) return std::string(kOov);
  if (id < layout.kmer_end()) return kmer_text(layout.kmer_of(id), layout.bases());
  return "<unused_" + std::to_string(id - layout.kmer_end()) + ">";
}

[[noreturn]] void fail_text(const std::string& where, const TokenLayout& layout) {
  if (layout.first == 0)
    throw Error("tokenize",
                where + " cannot be encoded: this model's vocabulary has DNA tokens only; remove the text");
  throw Error("tokenize", where + " " + kNeedFiles, {"give them with {--tokenizer} PATH"});
}

/// Encodes text without BPE files: only the added tokens of the released layout are known, other text is an
/// Error.
std::vector<uint32_t> encode_without_files(std::string_view segment, const std::string& where,
                                           const TokenLayout& layout) {
  if (!has_released_text(layout)) fail_text(where, layout);
  const AddedTokens added(released_added_tokens());
  std::vector<uint32_t> ids;
  for (size_t begin = 0; begin < segment.size();) {
    const AddedTokens::Match match = added.next(segment, begin);
    if (match.token == nullptr || match.position != begin) fail_text(where, layout);
    ids.push_back(match.token->id);
    begin += match.token->text.size();
  }
  return ids;
}

std::string decode_without_files(const std::vector<uint32_t>& ids, bool skip_special,
                                 const TokenLayout& layout) {
  const AddedTokens added(has_released_text(layout) ? released_added_tokens() : std::vector<AddedToken>{});
  std::string text;
  for (const uint32_t id : ids) {
    if (id >= layout.vocab_size) continue;
    const AddedToken* token = added.find(id);
    if (token == nullptr)
      throw Error("detokenize", "text id " + std::to_string(id) + " " + kNeedFiles,
                  {"give them with {--tokenizer} PATH"});
    if (!skip_special || !token->special) text += token->text;
  }
  return text;
}

}  // namespace

HybridTokenizer::HybridTokenizer(TokenLayout layout, std::shared_ptr<const Bpe> bpe)
    : layout_(layout), bpe_(std::move(bpe)) {
  if (!layout_.letters &&
      uint64_t{layout_.first} + layout_.family->kmer0 + layout_.kmers() > layout_.vocab_size)
    throw Error("tokenizer", "a vocabulary of " + std::to_string(layout_.vocab_size) +
                                 " ids has no room for the DNA tokens from id " +
                                 std::to_string(layout_.first) + "; check dna_start_id and vocab_size");
  if (bpe_ && (layout_.metadata() == MetadataKind::tokens || layout_.letters))
    throw Error(
        "tokenizer",
        "a model of the family " + std::string(layout_.family->name) +
            " has no BPE vocabulary: its whole text is DNA and single tokens; leave out the BPE files");
}

Encoding HybridTokenizer::encode(std::string_view text, bool auto_dna_tags) const {
  check_utf8(text, "tokenize");
  if (layout_.letters) {
    check_no_dna_tags(auto_dna_tags, layout_);
    return encode_letter_text(text, layout_);
  }
  if (layout_.metadata() == MetadataKind::tokens) {
    check_no_dna_tags(auto_dna_tags, layout_);
    return encode_token_text(text, layout_);
  }
  std::string wrapped;
  if (auto_dna_tags && text.find(kDnaBegin) == std::string_view::npos) {
    wrapped.append(kDnaBegin).append(text).append(kDnaEnd);
    text = wrapped;
  }

  Encoding out;
  const auto encode_text = [&](size_t begin, size_t end) {
    const std::string_view segment = text.substr(begin, end - begin);
    const std::string where = "text outside <dna>...</dna> at byte offset " + std::to_string(begin);
    if (layout_.first == 0) fail_text(where, layout_);
    for (const uint32_t id : bpe_ ? bpe_->encode(segment) : encode_without_files(segment, where, layout_)) {
      if (id >= layout_.first)
        throw Error("tokenize", where + " gives id " + std::to_string(id) + ", but the DNA tokens begin at " +
                                    std::to_string(layout_.first) +
                                    ": these tokenizer files belong to another model");
      append(out, id, -1);
    }
  };

  // The tags are ASCII, so they can be searched for in bytes. The result of a search is kept until it is
  // passed. Otherwise a text of many closing tags would be searched to its end for an opening tag after each
  // of them.
  constexpr size_t kNone = std::string_view::npos;
  size_t open = 0, close = 0;
  for (size_t i = 0; i < text.size();) {
    if (open != kNone && open <= i) open = text.find(kDnaBegin, i);
    if (close != kNone && close <= i) close = text.find(kDnaEnd, i);
    if (open == kNone && close == kNone) {
      encode_text(i, text.size());
      break;
    }
    // If a closing tag comes first, the text before it is a region without its opening tag.
    size_t region = i;
    if (open != kNone && (close == kNone || open < close)) {
      if (i < open) encode_text(i, open);
      region = open;
    }
    const size_t end = close == kNone ? text.size() : close + kDnaEnd.size();
    encode_region(text.substr(region, end - region), layout_, out);
    i = end;
  }
  return out;
}

std::string HybridTokenizer::decode(const std::vector<uint32_t>& ids, bool skip_special) const {
  if (layout_.letters) return decode_letter_text(ids, skip_special, layout_);
  if (layout_.metadata() == MetadataKind::tokens) return decode_token_text(ids, skip_special, layout_);
  std::vector<uint32_t> kept = ids;
  if (skip_special && has_released_text(layout_)) std::erase(kept, kEndOfText);

  const auto is_dna = [&](uint32_t id) { return id >= layout_.first && id < layout_.vocab_size; };
  const auto is_special = [&](uint32_t id) { return id >= layout_.begin() && id <= layout_.oov(); };
  std::string text;
  for (size_t i = 0; i < kept.size();) {
    if (!is_dna(kept[i])) {
      const auto begin = kept.begin() + static_cast<ptrdiff_t>(i);
      const auto end = std::find_if(begin, kept.end(), is_dna);
      const std::vector<uint32_t> run(begin, end);
      if (layout_.first != 0)
        text += bpe_ ? bpe_->decode(run, skip_special) : decode_without_files(run, skip_special, layout_);
      i += run.size();
    } else if (kept[i] == layout_.begin()) {
      // Inside a region all DNA tokens are printed, also <oov> and a second <dna>. Ids of text are left out.
      if (!skip_special) text += kDnaBegin;
      for (++i; i < kept.size() && kept[i] != layout_.separator(); ++i)
        if (is_dna(kept[i])) text += dna_text(kept[i], layout_);
    } else {
      if (!skip_special || !is_special(kept[i])) text += dna_text(kept[i], layout_);
      ++i;
    }
  }
  return text;
}

}  // namespace carbon
