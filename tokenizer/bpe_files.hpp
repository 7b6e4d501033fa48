// Reads and checks the files of a byte-level BPE tokenizer: tokenizer.json, or vocab.json and merges.txt.
//
// All checks of files are here, so that the encoder (bpe.hpp) needs none.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/added_tokens.hpp"

namespace carbon {

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
