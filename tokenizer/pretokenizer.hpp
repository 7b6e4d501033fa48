// Qwen3's pre-tokenizer: where a text is cut before the merges (docs/model.md, "Text outside DNA regions",
// step 3).
//
// A scanner that finds the same pieces as the regular expression of the model, without a regular expression
// engine.
#pragma once

#include <cstddef>
#include <string_view>

namespace carbon {

/// The regular expression that this scanner implements, as tokenizer.json writes it.
inline constexpr std::string_view kPretokenizerRegex =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

/// The end of the piece that begins at `begin`, which must be less than text.size(). The end is greater than
/// `begin`. The time for all pieces of a text is linear in its length.
size_t pretoken_end(std::u32string_view text, size_t begin);

}  // namespace carbon
