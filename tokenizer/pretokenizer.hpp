// Qwen3's pre-tokenizer: where a text is cut before the merges (carbon_model 1.6, step 3).
//
// A scanner that takes the same pieces as the model's regular expression; it is not a regular expression
// engine.
#pragma once

#include <cstddef>
#include <string_view>

namespace carbon {

/// The expression this scanner stands for, as tokenizer.json spells it.
inline constexpr std::string_view kPretokenizerRegex =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

/// The end of the piece that begins at `begin` (< text.size()); always past `begin`. Time is linear in the
/// text over all pieces.
size_t pretoken_end(std::u32string_view text, size_t begin);

}  // namespace carbon
