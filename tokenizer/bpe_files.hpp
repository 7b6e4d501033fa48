// Reads and checks the files of a byte-level BPE tokenizer: tokenizer.json, or vocab.json and merges.txt.
//
// All checks of files are here, so that the encoder (bpe.hpp) needs none.
#pragma once

#include <cstdint>
#include <string>
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
/// True if read_bpe_files(path) would find files.
bool bpe_files_present(const std::string& path);

}  // namespace carbon
