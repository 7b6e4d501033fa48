// Byte-level BPE of Qwen3 for the text outside DNA regions (carbon_model 1.6).
//
// Reads a Hugging Face tokenizer.json, or vocab.json + merges.txt. Files are hostile input: sizes, types, ids
// and merge parts are checked. Immutable after loading; const members may be called from several threads.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace carbon {

class Bpe {
 public:
  /// `path`: tokenizer.json itself, or a directory holding tokenizer.json or vocab.json and merges.txt (in
  /// that order of preference). Throws Error naming the file and what is wrong with it.
  static Bpe load(const std::string& path);
  /// True where load(path) would find files.
  static bool present(const std::string& path);

  Bpe(Bpe&&) noexcept;
  Bpe& operator=(Bpe&&) noexcept;
  ~Bpe();

  /// Ids of a text segment (UTF-8): added tokens, NFC, pre-tokenizer, merges.
  std::vector<uint32_t> encode(std::string_view text) const;
  /// Text of a run of ids: bytes of the pieces as UTF-8 with U+FFFD for invalid sequences; ids outside the
  /// vocabulary give nothing; `skip_special` drops the added tokens marked special.
  std::string decode(const std::vector<uint32_t>& ids, bool skip_special) const;

 private:
  struct Impl;
  explicit Bpe(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace carbon
