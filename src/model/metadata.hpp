// The metadata that may stand beside the bases of a sequence: text before <dna>, or single tokens after <s>.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/model/checkpoint.hpp"
#include "tokenizer/hybrid.hpp"

namespace carbon {

/// The ids of a metadata text, none for "". Known tags are built in; other text needs the model's BPE files.
/// Throws Error for a model that has no metadata, for a text with one of the tags around DNA or with other
/// than the single tokens of a family that has those, and if the files are needed and missing. `tokenizer` is
/// the model's, with these files if there are any; null: they are read when they are needed.
std::vector<uint32_t> prefix_ids(const Checkpoint& model, const std::string& text,
                                 const HybridTokenizer* tokenizer = nullptr);

}  // namespace carbon
