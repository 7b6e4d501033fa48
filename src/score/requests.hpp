// From the bases of a window to its request to the model.
#pragma once

#include <string_view>

#include "src/engine/request.hpp"
#include "src/score/options.hpp"
#include "src/score/windows.hpp"
#include "tokenizer/kmer.hpp"

namespace carbon {

/// Returns the request for one window of an upper-case sequence, or null if the window has no values. Row i
/// of the values belongs to the window's 6-mer (take - begin) / 6 + i.
RequestPtr window_request(std::string_view sequence, const SlidingWindow& window, ScoreLevel level,
                          const TokenLayout& layout);

}  // namespace carbon
