#include "src/score/options.hpp"

#include <utility>

#include "src/base/error.hpp"
#include "src/score/windows.hpp"
#include "tokenizer/kmer.hpp"

namespace carbon {

void complete_score_options(ScoreOptions& options, size_t max_positions) {
  if (options.window == 0) options.window = default_window(max_positions);
  if (options.stride == 0) options.stride = default_stride(options.window);
  const size_t largest = kKmerLength * (max_positions - 1);
  if (options.window > largest)
    throw Error("score",
                "a window of " + std::to_string(options.window) + " bp does not fit the model's context of " +
                    std::to_string(max_positions) + " tokens; the largest that fits is " +
                    std::to_string(largest) + " bp",
                {"window"});
  for (const auto& [name, value] : {std::pair("window", options.window), std::pair("stride", options.stride)})
    if (value == 0 || value % kKmerLength != 0)
      throw Error("score",
                  std::string("a ") + name + " of " + std::to_string(value) +
                      " bp cannot be used; expected a positive multiple of 6",
                  {name});
  if (options.stride > options.window)
    throw Error("score",
                "a stride of " + std::to_string(options.stride) +
                    " bp leaves bases without a score between " + "windows of " +
                    std::to_string(options.window) + " bp; the largest that fits is " +
                    std::to_string(options.window) + " bp",
                {"stride"});
}

}  // namespace carbon
