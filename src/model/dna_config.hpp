// dna_config.json, as `carbon models --skeleton` writes it for a model that lacks one.
#pragma once

#include <string>

namespace carbon {

struct DnaConfigSkeleton {
  std::string text;        // of the file
  std::string what_to_do;  // for a message that says that it was written
};

/// The file for the checkpoint in `dir`. dna_start_id is the id of <dna> in tokenizer.json or
/// added_tokens.json, or else null, with which the model cannot be opened. Throws Error if there is no
/// config.json, if there is a dna_config.json, for a model that is read without one, and for a damaged file
/// of the tokenizer.
DnaConfigSkeleton dna_config_skeleton(const std::string& dir);

}  // namespace carbon
