// Byte-level BPE of Qwen3 (docs/model.md, "Text outside DNA regions").
//
// Reads a Hugging Face tokenizer.json, or vocab.json + merges.txt. Files are hostile input: sizes, types, ids
// and merge parts are checked. Immutable after loading; const members may be called from several threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace carbon {

struct BpeFiles;

class Bpe {
 public:
  /// For what was read (bpe_files.hpp).
  explicit Bpe(BpeFiles files);
  /// `path` is a tokenizer.json, or a directory with a tokenizer.json (preferred) or with vocab.json and
  /// merges.txt. Throws Error, which names the file.
  static Bpe load(const std::string& path);
  /// True if load(path) would find files.
  static bool present(const std::string& path);

  Bpe(Bpe&&) noexcept;
  Bpe& operator=(Bpe&&) noexcept;
  ~Bpe();

  /// The ids of a text (UTF-8): added tokens, NFC, pre-tokenizer, merges. Throws Error if it is not UTF-8.
  std::vector<uint32_t> encode(std::string_view text) const;
  /// The text of a sequence of ids, as UTF-8 with U+FFFD for invalid bytes. Ids outside the vocabulary give
  /// no text. `skip_special` leaves out the added tokens that are marked as special.
  std::string decode(const std::vector<uint32_t>& ids, bool skip_special) const;

 private:
  struct Impl;
  explicit Bpe(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// The regular expression of the pre-tokenizer, which says where a text is cut before the merges
/// (docs/model.md, "Text outside DNA regions", step 3), as tokenizer.json writes it.
inline constexpr std::string_view kPretokenizerRegex =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

/// A scanner that finds the same pieces without a regular expression engine: the end of the piece that begins
/// at `begin`, which must be less than text.size(). The end is greater than `begin`. The time for all pieces
/// of a text is linear in its length.
size_t pretoken_end(std::u32string_view text, size_t begin);

}  // namespace carbon
