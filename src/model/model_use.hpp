// What a model can be used for: one with an output matrix gives probabilities of bases, one with a
// classification head values of labels, and both give hidden states.
#pragma once

#include "src/model/checkpoint.hpp"

namespace carbon {

enum class ModelUse {
  bases,   // probabilities of bases
  labels,  // values of the labels of a classification head
  states,  // hidden states, or what is asked for later
};

/// Throws Error, with advice, if the model cannot be used so.
void check_use(const Checkpoint& checkpoint, ModelUse use);

}  // namespace carbon
