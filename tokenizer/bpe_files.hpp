// What the files of a byte-level BPE tokenizer say: tokens, merges, and added tokens, which are texts that
// are always one token and are found before the rest of the text is encoded. Reads and checks tokenizer.json,
// or vocab.json and merges.txt.
//
// All checks of files are here, so that the encoder (bpe.hpp) needs none.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace carbon {

/// The number of entries of the released BPE vocabulary (ids 0 to 151,642). The added tokens follow them, and
/// then the DNA tokens.
inline constexpr uint32_t kReleasedBpeSize = 151643;
/// `<|endoftext|>`: end of sequence and padding of the released models.
inline constexpr uint32_t kEndOfText = 151643;

struct AddedToken {
  std::string text;
  uint32_t id = 0;
  bool special = false;
};

/// The 26 added tokens of the released layout, ids 151,643 to 151,668.
std::vector<AddedToken> released_added_tokens();

/// The table of the added tokens of a tokenizer.
class AddedTokens {
 public:
  AddedTokens() = default;
  explicit AddedTokens(const std::vector<AddedToken>& tokens);
  // Not copyable: the pointers of a copy would point into the original.
  AddedTokens(const AddedTokens&) = delete;
  AddedTokens& operator=(const AddedTokens&) = delete;
  AddedTokens(AddedTokens&&) = default;
  AddedTokens& operator=(AddedTokens&&) = default;

  /// Adds a token. Returns false and adds nothing if its text is empty, or its text or id is already there.
  bool add(AddedToken token);
  /// The token of an id, or null.
  const AddedToken* find(uint32_t id) const;

  struct Match {
    size_t position = std::string_view::npos;
    const AddedToken* token = nullptr;
  };
  /// The first token at or after `from`, and of those that begin there the longest. Null if there is none.
  Match next(std::string_view text, size_t from) const;

 private:
  const AddedToken* longest_at_start(std::string_view text) const;

  std::map<uint32_t, AddedToken> by_id_;
  /// The same by their texts. Points into by_id_, whose nodes do not move.
  std::map<std::string_view, const AddedToken*> by_text_;
  std::array<bool, 256> begins_ = {};  // whether a token begins with the byte
};

struct BpeMerge {
  uint32_t left = 0, right = 0;
  uint32_t result = 0;  // the token with the bytes of left, then those of right
};

struct BpeFiles {
  std::vector<std::string> tokens;  // raw bytes by id
  uint32_t byte_token[256] = {};    // id of each single byte
  std::vector<BpeMerge> merges;     // in rank order, each pair once
  AddedTokens added;
};

/// For `path` see Bpe::load(). Throws Error, which names file and entry.
BpeFiles read_bpe_files(const std::string& path);
/// The same from lists that another kind of file holds: the tokens of the vocabulary by id, in the letters of
/// byte-level BPE; the merges in rank order, as "left right"; and the added tokens. `where` begins the
/// messages of an Error.
BpeFiles read_bpe_lists(const std::string& where, std::span<const std::string_view> tokens,
                        std::span<const std::string_view> merges, const std::vector<AddedToken>& added);
/// True if read_bpe_files(path) would find files.
bool bpe_files_present(const std::string& path);

}  // namespace carbon
