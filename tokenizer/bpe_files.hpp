// The files of a byte-level BPE tokenizer, read and checked: tokenizer.json, or vocab.json and merges.txt.
//
// Encodes nothing; see bpe.hpp. Every check that makes later look-ups safe is here.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tokenizer/added_tokens.hpp"

namespace carbon {

struct BpeMerge {
  uint32_t left = 0, right = 0;
  uint32_t result = 0;  // the token whose bytes are left's and right's
};

struct BpeFiles {
  std::vector<std::string> tokens;  // raw bytes by id
  uint32_t byte_token[256] = {};    // id of each single byte
  std::vector<BpeMerge> merges;     // in rank order, each pair once
  AddedTokens added;
};

/// `path` as in Bpe::load. Throws Error naming file, entry and what to do.
BpeFiles read_bpe_files(const std::string& path);
/// True where read_bpe_files would find files.
bool bpe_files_present(const std::string& path);

}  // namespace carbon
