// The level of a score: single bases, or whole 6-mers as the model predicts them.
#pragma once

#include "src/base/words.hpp"

namespace carbon {

enum class ScoreLevel { base, token };
inline constexpr Word<ScoreLevel> kScoreLevelWords[] = {{"bp", ScoreLevel::base},
                                                        {"token", ScoreLevel::token}};

}  // namespace carbon
