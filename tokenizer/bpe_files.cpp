// Reads and checks BPE tokenizer files; see bpe_files.hpp. Input is hostile: sizes, types, ids and merge
// parts are checked before anything is built from them.
#include "tokenizer/bpe_files.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "src/base/error.hpp"
#include "src/base/json.hpp"
#include "tokenizer/bpe.hpp"
#include "tokenizer/unicode.hpp"

namespace carbon {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// The texts of the released added tokens, in id order from kReleasedBpeSize.
constexpr std::string_view kReleasedTexts[] = {
    "<|endoftext|>",  "<|im_start|>",   "<|im_end|>",      "<|object_ref_start|>", "<|object_ref_end|>",
    "<|box_start|>",  "<|box_end|>",    "<|quad_start|>",  "<|quad_end|>",         "<|vision_start|>",
    "<|vision_end|>", "<|vision_pad|>", "<|image_pad|>",   "<|video_pad|>",        "<tool_call>",
    "</tool_call>",   "<|fim_prefix|>", "<|fim_middle|>",  "<|fim_suffix|>",       "<|fim_pad|>",
    "<|repo_name|>",  "<|file_sep|>",   "<tool_response>", "</tool_response>",     "<think>",
    "</think>"};
constexpr uint32_t kLastSpecial = 151656;

constexpr char kFunction[] = "load_tokenizer";
/// Twenty times the largest tokenizer.json of the Qwen3 family.
constexpr size_t kLargestFile = size_t{256} << 20;

[[noreturn]] void fail(const std::string& where, const std::string& what) {
  throw Error(kFunction, where + ": " + what);
}

/// Text of hostile origin for a message: quoted, ASCII, of bounded length.
std::string in_quotes(std::string_view text) {
  constexpr size_t kShown = 60;
  std::string shown = replace_invalid_utf8(text.substr(0, kShown));
  return json(std::move(shown)).dump(-1, ' ', true) + (text.size() > kShown ? "..." : "");
}

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) fail(path, std::string("cannot open: ") + std::strerror(errno));
  std::string content;
  std::vector<char> block(size_t{1} << 16);
  while (in.read(block.data(), static_cast<std::streamsize>(block.size())) || in.gcount() > 0) {
    content.append(block.data(), static_cast<size_t>(in.gcount()));
    if (content.size() > kLargestFile) fail(path, "larger than 256 MiB; this is not a tokenizer file");
  }
  if (in.bad()) fail(path, "read error");
  return content;
}

/// The byte that each letter stands for, as in GPT-2: a printable Latin-1 letter stands for itself, and the
/// letters from U+0100 on stand for the other bytes, in order.
std::unordered_map<char32_t, unsigned char> make_byte_of_letter() {
  std::unordered_map<char32_t, unsigned char> table;
  char32_t next = 0x100;
  for (int byte = 0; byte < 256; ++byte) {
    const bool itself = (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
    table.emplace(itself ? static_cast<char32_t>(byte) : next++, static_cast<unsigned char>(byte));
  }
  return table;
}

class Reader {
 public:
  void read_vocab(const std::string& where, const json& vocab);
  void read_tokens(const std::string& where, std::span<const std::string_view> tokens);
  void read_merge_list(const std::string& where, const json& merges);
  void read_merges_txt(const std::string& path);
  void read_merge(const std::string& where, std::string_view line);
  void add_token(const std::string& where, AddedToken token);
  void read_added_tokens(const std::string& where, const json& list);
  /// Adds those added tokens of the released vocabulary that the files do not name.
  void add_released_tokens();
  BpeFiles take() { return std::move(files_); }

 private:
  std::string token_bytes(const std::string& where, std::string_view token) const;
  void find_bytes(const std::string& where);
  void add_merge(const std::string& where, std::string_view left, std::string_view right);

  BpeFiles files_;
  std::unordered_map<std::string, uint32_t> id_of_;
  std::unordered_set<uint64_t> pairs_;
  const std::unordered_map<char32_t, unsigned char> byte_of_letter_ = make_byte_of_letter();
};

std::string Reader::token_bytes(const std::string& where, std::string_view token) const {
  if (token.empty()) fail(where, "a token is the empty text");
  std::string bytes;
  for (size_t position = 0; position < token.size();) {
    const auto place = byte_of_letter_.find(next_code_point(token, position));
    if (place == byte_of_letter_.end())
      fail(where, "token " + in_quotes(token) + " is not byte-level BPE text; this is not a Qwen3 tokenizer");
    bytes.push_back(static_cast<char>(place->second));
  }
  return bytes;
}

void Reader::read_vocab(const std::string& where, const json& vocab) {
  if (!vocab.is_object() || vocab.empty()) fail(where, "the vocabulary is not an object of token: id");
  const size_t count = vocab.size();
  files_.tokens.assign(count, std::string());
  id_of_.reserve(count);
  for (const auto& [token, id_value] : vocab.items()) {
    if (!id_value.is_number_unsigned())
      fail(where, "the id of token " + in_quotes(token) + " is not a whole number");
    const auto id = id_value.get<uint64_t>();
    if (id >= count)
      fail(where, "id " + std::to_string(id) + " of token " + in_quotes(token) + " is outside 0.." +
                      std::to_string(count - 1) + ", the range of a vocabulary of " + std::to_string(count) +
                      " tokens");
    std::string& slot = files_.tokens[id];
    if (!slot.empty())
      fail(where, "id " + std::to_string(id) + " is given to two tokens, one is " + in_quotes(token));
    slot = token_bytes(where, token);
    id_of_.emplace(slot, static_cast<uint32_t>(id));
  }
  find_bytes(where);
}

void Reader::read_tokens(const std::string& where, std::span<const std::string_view> tokens) {
  files_.tokens.reserve(tokens.size());
  id_of_.reserve(tokens.size());
  for (const std::string_view token : tokens) {
    check_utf8(token, kFunction);
    const auto id = static_cast<uint32_t>(files_.tokens.size());
    files_.tokens.push_back(token_bytes(where, token));
    if (!id_of_.emplace(files_.tokens.back(), id).second)
      fail(where, "token " + in_quotes(token) + " comes twice");
  }
  find_bytes(where);
}

/// Finds the token of each single byte.
void Reader::find_bytes(const std::string& where) {
  for (int byte = 0; byte < 256; ++byte) {
    const auto place = id_of_.find(std::string(1, static_cast<char>(byte)));
    if (place == id_of_.end())
      fail(where,
           "the vocabulary has no token for byte " + std::to_string(byte) + "; it is not byte-level BPE");
    files_.byte_token[byte] = place->second;
  }
}

void Reader::add_merge(const std::string& where, std::string_view left, std::string_view right) {
  const auto id = [&](const std::string& bytes, const std::string& what) {
    const auto place = id_of_.find(bytes);
    if (place == id_of_.end())
      fail(where, what + " of merge " + in_quotes(left) + " " + in_quotes(right) +
                      " is not in the vocabulary; vocabulary and merges do not belong together");
    return place->second;
  };
  const std::string left_bytes = token_bytes(where, left), right_bytes = token_bytes(where, right);
  const uint32_t left_id = id(left_bytes, "the left part"), right_id = id(right_bytes, "the right part");
  const uint32_t result = id(left_bytes + right_bytes, "the result");
  if (!pairs_.insert(uint64_t{left_id} << 32 | right_id).second)
    fail(where, "merge " + in_quotes(left) + " " + in_quotes(right) + " is given twice");
  files_.merges.push_back({left_id, right_id, result});
}

/// Cuts "left right"; false unless there is exactly one space with text on both sides.
bool split_merge(std::string_view line, std::string_view& left, std::string_view& right) {
  const size_t space = line.find(' ');
  if (space == std::string_view::npos || line.find(' ', space + 1) != std::string_view::npos) return false;
  left = line.substr(0, space);
  right = line.substr(space + 1);
  return !left.empty() && !right.empty();
}

void Reader::read_merge_list(const std::string& where, const json& merges) {
  if (!merges.is_array()) fail(where, "model.merges is not an array");
  size_t number = 0;
  for (const json& merge : merges) {
    const std::string here = where + ", merge " + std::to_string(++number);
    if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string()) {
      add_merge(here, merge[0].get_ref<const std::string&>(), merge[1].get_ref<const std::string&>());
      continue;
    }
    std::string_view left, right;
    if (!merge.is_string() || !split_merge(merge.get_ref<const std::string&>(), left, right))
      fail(here, R"(neither "left right" nor ["left", "right"])");
    add_merge(here, left, right);
  }
}

void Reader::read_merges_txt(const std::string& path) {
  const std::string content = read_file(path);
  size_t number = 0;
  for (size_t begin = 0; begin < content.size();) {
    size_t end = content.find('\n', begin);
    if (end == std::string::npos) end = content.size();
    std::string_view line = std::string_view(content).substr(begin, end - begin);
    begin = end + 1;
    const std::string here = path + ":" + std::to_string(++number);
    if (line.ends_with('\r')) line.remove_suffix(1);
    // Only the first line can be a comment, because "# #" is a merge.
    if (number == 1 && line.starts_with("#version")) continue;
    read_merge(here, line);
  }
}

void Reader::read_merge(const std::string& where, std::string_view line) {
  check_utf8(line, kFunction);
  std::string_view left, right;
  if (!split_merge(line, left, right)) fail(where, "expected two tokens with one space between them");
  add_merge(where, left, right);
}

void Reader::read_added_tokens(const std::string& where, const json& list) {
  if (!list.is_array()) fail(where, "added_tokens is not an array");
  size_t number = 0;
  for (const json& entry : list) {
    const std::string here = where + ", added token " + std::to_string(++number);
    const auto has = [&](const char* key, bool (json::*type)() const noexcept) {
      return entry.is_object() && entry.contains(key) && (entry.at(key).*type)();
    };
    if (!has("id", &json::is_number_unsigned) || !has("content", &json::is_string))
      fail(here, "needs a whole number \"id\" and a text \"content\"");
    for (const char* flag : {"single_word", "lstrip", "rstrip", "normalized"})
      if (entry.contains(flag) && entry.at(flag) != json(false))
        fail(here, std::string(flag) + " is not false; only plain added tokens are supported");
    const auto id = entry.at("id").get<uint64_t>();
    const auto& text = entry.at("content").get_ref<const std::string&>();
    if (id > UINT32_MAX) fail(here, "id " + std::to_string(id) + " is too large");
    const bool special = has("special", &json::is_boolean) && entry.at("special").get<bool>();
    add_token(here, {text, static_cast<uint32_t>(id), special});
  }
}

void Reader::add_token(const std::string& where, AddedToken token) {
  if (token.id < files_.tokens.size() && files_.tokens[token.id] != token.text)
    fail(where, "id " + std::to_string(token.id) + " of " + in_quotes(token.text) +
                    " belongs to another token of the vocabulary");
  if (!files_.added.add(token))
    fail(where, in_quotes(token.text) + " (id " + std::to_string(token.id) +
                    ") is empty, or its text or id is given twice");
}

void Reader::add_released_tokens() {
  if (files_.tokens.size() != kReleasedBpeSize) return;
  for (const AddedToken& token : released_added_tokens()) files_.added.add(token);
}

bool has_value(const json& root, const json::json_pointer& pointer) {
  return root.contains(pointer) && !root.at(pointer).is_null();
}

/// Throws Error unless tokenizer.json describes the normalizer, pre-tokenizer and merges of this program.
void check_pipeline(const std::string& path, const json& root) {
  const auto expect = [&](const char* pointer, const json& expected) {
    const json::json_pointer place(pointer);
    if (root.contains(place) && root.at(place) == expected) return;
    fail(path, std::string(pointer) + " is not " + expected.dump() + "; this is not a Qwen3 tokenizer");
  };
  const auto expect_unset = [&](const char* pointer, const json& unset) {
    const json::json_pointer place(pointer);
    if (!has_value(root, place) || root.at(place) == unset) return;
    fail(path, std::string(pointer) + " is set; this is not a Qwen3 tokenizer");
  };
  expect("/model/type", "BPE");
  expect("/normalizer/type", "NFC");
  expect("/pre_tokenizer/type", "Sequence");
  expect("/pre_tokenizer/pretokenizers/0/type", "Split");
  expect("/pre_tokenizer/pretokenizers/0/pattern/Regex", kPretokenizerRegex);
  expect("/pre_tokenizer/pretokenizers/0/behavior", "Isolated");
  expect("/pre_tokenizer/pretokenizers/1/type", "ByteLevel");
  expect_unset("/pre_tokenizer/pretokenizers/0/invert", false);
  expect_unset("/pre_tokenizer/pretokenizers/1/add_prefix_space", false);
  expect_unset("/pre_tokenizer/pretokenizers/1/use_regex", false);
  expect_unset("/pre_tokenizer/pretokenizers/2", nullptr);
  expect_unset("/model/dropout", nullptr);
  expect_unset("/model/unk_token", nullptr);
  expect_unset("/model/continuing_subword_prefix", "");
  expect_unset("/model/end_of_word_suffix", "");
  expect_unset("/model/byte_fallback", false);
  expect_unset("/model/ignore_merges", false);
}

void read_tokenizer_json(Reader& reader, const std::string& path) {
  const json root = read_json_file(path, kLargestFile);
  check_pipeline(path, root);
  const json& model = root.at("model");
  for (const char* key : {"vocab", "merges"})
    if (!model.contains(key)) fail(path, std::string("model.") + key + " is missing");
  reader.read_vocab(path, model.at("vocab"));
  reader.read_merge_list(path, model.at("merges"));
  if (has_value(root, json::json_pointer("/added_tokens")))
    reader.read_added_tokens(path, root.at("added_tokens"));
}

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored) && !fs::is_directory(path, ignored);
}

}  // namespace

std::vector<AddedToken> released_added_tokens() {
  std::vector<AddedToken> tokens;
  uint32_t id = kReleasedBpeSize;
  for (const std::string_view text : kReleasedTexts) {
    tokens.push_back({std::string(text), id, id <= kLastSpecial});
    ++id;
  }
  return tokens;
}

AddedTokens::AddedTokens(const std::vector<AddedToken>& tokens) {
  for (const AddedToken& token : tokens) add(token);
}

bool AddedTokens::add(AddedToken token) {
  if (token.text.empty() || by_text_.contains(token.text)) return false;
  const uint32_t id = token.id;
  const auto [place, inserted] = by_id_.emplace(id, std::move(token));
  if (!inserted) return false;
  const std::string& text = place->second.text;
  by_text_.emplace(text, &place->second);
  begins_[static_cast<unsigned char>(text[0])] = true;
  return true;
}

const AddedToken* AddedTokens::find(uint32_t id) const {
  const auto place = by_id_.find(id);
  return place == by_id_.end() ? nullptr : &place->second;
}

// In alphabetical order a token that `text` begins with is followed only by longer tokens up to the place of
// `text`. So if the last token before that place is not a beginning of `text`, the next one to look at is a
// beginning of what the two have in common.
const AddedToken* AddedTokens::longest_at_start(std::string_view text) const {
  while (!text.empty()) {
    auto place = by_text_.upper_bound(text);
    if (place == by_text_.begin()) return nullptr;
    const auto& [token, found] = *--place;
    if (text.starts_with(token)) return found;
    const auto differ = std::mismatch(text.begin(), text.end(), token.begin(), token.end()).first;
    text = text.substr(0, static_cast<size_t>(differ - text.begin()));
  }
  return nullptr;
}

AddedTokens::Match AddedTokens::next(std::string_view text, size_t from) const {
  for (size_t position = from; position < text.size(); ++position)
    if (begins_[static_cast<unsigned char>(text[position])])
      if (const AddedToken* token = longest_at_start(text.substr(position))) return {position, token};
  return {};
}

bool bpe_files_present(const std::string& path) {
  const fs::path place(path);
  return is_file(place) || is_file(place / "tokenizer.json") ||
         (is_file(place / "vocab.json") && is_file(place / "merges.txt"));
}

BpeFiles read_bpe_files(const std::string& path) {
  if (!bpe_files_present(path))
    fail(path,
         "there are no tokenizer files; give a tokenizer.json, or a directory with tokenizer.json or with "
         "vocab.json and merges.txt");
  fs::path place(path);
  const bool pair_member =
      is_file(place) && (place.filename() == "vocab.json" || place.filename() == "merges.txt");
  if (pair_member) place.replace_filename("");
  Reader reader;
  if (is_file(place)) {
    read_tokenizer_json(reader, place.string());
  } else if (!pair_member && is_file(place / "tokenizer.json")) {
    read_tokenizer_json(reader, (place / "tokenizer.json").string());
  } else {
    const std::string vocab = (place / "vocab.json").string();
    reader.read_vocab(vocab, read_json_file(vocab, kLargestFile));
    reader.read_merges_txt((place / "merges.txt").string());
  }
  reader.add_released_tokens();
  return reader.take();
}

BpeFiles read_bpe_lists(const std::string& where, std::span<const std::string_view> tokens,
                        std::span<const std::string_view> merges, const std::vector<AddedToken>& added) {
  Reader reader;
  reader.read_tokens(where, tokens);
  for (const std::string_view merge : merges) reader.read_merge(where, merge);
  for (const AddedToken& token : added) reader.add_token(where, token);
  reader.add_released_tokens();
  return reader.take();
}

}  // namespace carbon
