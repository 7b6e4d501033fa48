// carbon predict: sequences in, values of the labels of a classification head out.
#pragma once

#include "src/engine/engine.hpp"
#include "src/predict/options.hpp"

namespace carbon {

/// Throws Error. The model must have a classification head.
void run_predict(Engine& engine, const PredictOptions& options);

}  // namespace carbon
