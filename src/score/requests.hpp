// From bases to requests: what one window of a sequence asks the model for.
#pragma once

#include <string_view>

#include "src/engine/request.hpp"
#include "src/score/windows.hpp"
#include "tokenizer/kmer.hpp"

namespace carbon {

enum class ScoreLevel { base, token };

/// The request whose values are those of one window of an upper-case sequence; null if the window has none.
/// Row i of the values speaks of the window's 6-mer (take - begin) / 6 + i.
RequestPtr window_request(std::string_view sequence, const SlidingWindow& window, ScoreLevel level,
                          const TokenLayout& layout);

}  // namespace carbon
