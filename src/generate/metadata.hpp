// The metadata text that may stand before <dna>.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/engine/loaded_model.hpp"
#include "tokenizer/hybrid.hpp"

namespace carbon {

/// The ids of a metadata text, none for "". Known tags are built in; other text needs the model's BPE files.
/// Throws Error for a model that has no text, for a text with <dna> or </dna>, and if the files are needed
/// and missing. `tokenizer` is the model's, with these files if there are any; null: they are read when they
/// are needed.
std::vector<uint32_t> prefix_ids(const LoadedModel& model, const std::string& text,
                                 const HybridTokenizer* tokenizer = nullptr);

/// True if a text has the same ids in two vocabularies.
bool same_text_ids(const TokenLayout& a, const TokenLayout& b);

/// Throws Error if there is a metadata text that the draft model cannot read, because its text vocabulary is
/// not the model's.
void check_draft(const LoadedModel& model, const LoadedModel& draft, const std::string& prefix);

}  // namespace carbon
