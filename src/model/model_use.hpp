// What a model can be used for, and what it can be told. One with an output matrix gives probabilities of
// bases, one with a classification head values of labels, and both give hidden states. Beside the bases of a
// sequence may stand metadata: text before <dna>, or single tokens after <s>.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/model/checkpoint.hpp"

namespace carbon {

class HybridTokenizer;

enum class ModelUse {
  bases,   // probabilities of bases
  labels,  // values of the labels of a classification head
  states,  // hidden states
  coding,  // probabilities of bases to be coding
  any,     // what is asked for later
};

/// Throws Error, with advice, if the model cannot be used so.
void check_use(const Checkpoint& checkpoint, ModelUse use);

/// Whether the bundled model can be used so, with or without an adapter, which may bring a head.
bool bundled_model_serves(ModelUse use, bool adapted = false);
/// Throws Error, with advice, for a run that names no model if the bundled one cannot be used so.
void check_bundled_use(ModelUse use, bool adapted);

/// The ids of a metadata text, none for "". Known tags are built in; other text needs the model's BPE files.
/// Throws Error for a model that has no metadata, for a text with one of the tags around DNA or with other
/// than the single tokens of a family that has those, and if the files are needed and missing. `tokenizer` is
/// the model's, with these files if there are any; null: they are read when they are needed.
std::vector<uint32_t> prefix_ids(const Checkpoint& model, const std::string& text,
                                 const HybridTokenizer* tokenizer = nullptr);

}  // namespace carbon
