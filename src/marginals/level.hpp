// The level of a score: single bases, or whole 6-mers as the model predicts them.
#pragma once

#include <cstddef>

#include "src/base/error.hpp"
#include "src/base/words.hpp"

namespace carbon {

enum class ScoreLevel { base, token };
inline constexpr Word<ScoreLevel> kScoreLevelWords[] = {{"bp", ScoreLevel::base},
                                                        {"token", ScoreLevel::token}};

/// Throws SettingError of `function` if a model with tokens of so many bases does not have the level.
inline void check_level(const char* function, ScoreLevel level, size_t bases) {
  if (level == ScoreLevel::token && bases == 1)
    throw SettingError(
        function, "level",
        "level token cannot be used with a model of one base a token, whose tokens are the bases; "
        "expected bp");
}

}  // namespace carbon
