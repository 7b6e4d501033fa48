// From a FASTA record to what generating from it takes: tokens of context, and the bases that the prompt and
// the constraint leave open at every new position.
//
// A prompt whose length is not a multiple of 6 ends inside a 6-mer: its last bases are fixed in the first new
// one. Nothing is padded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "src/generate/options.hpp"
#include "src/genome/fasta.hpp"
#include "src/model/config.hpp"
#include "src/sampling/new_bases.hpp"

namespace carbon {

struct Prompt {
  uint64_t record = 0;  // 0-based number in the input
  std::string name;
  std::string sequence;           // as in the file
  std::vector<uint32_t> context;  // prefix, <dna> and the whole 6-mers, in the model's ids
  std::shared_ptr<const std::vector<uint32_t>>
      draft_context;  // the same in the draft's ids; null without one
  std::shared_ptr<const NewBases> bases;
};

/// The allowed bases of --constraint or --constraint-file.
class Constraints {
 public:
  /// Throws Error for a letter that nothing satisfies, a constraint longer than the new bases, and a name
  /// that is there twice.
  explicit Constraints(const GenerateOptions& options);
  /// Of the prompt of a name; empty where there is no constraint. Throws Error if the file has constraints
  /// for others but none for this one.
  const std::vector<BaseSet>& of(const std::string& name) const;

 private:
  std::string path_;
  std::vector<BaseSet> common_;
  std::unordered_map<std::string, std::vector<BaseSet>> by_name_;
};

class PromptPlanner {
 public:
  /// `draft`: configuration of the draft model, or null. `prefix`: ids of the metadata text in both models.
  PromptPlanner(const ModelConfig& model, const ModelConfig* draft, std::vector<uint32_t> prefix,
                const GenerateOptions& options);

  /// Throws Error for a prompt without a single A, C, G or T, and for one that with its new bases does not
  /// fit the model's context, naming the largest length that would.
  Prompt plan(uint64_t record, const FastaRecord& fasta) const;
  /// The record of --unconditional: <dna> alone.
  Prompt plan_unconditional() const;

 private:
  Prompt start(uint64_t record, const std::string& name, std::string_view whole) const;
  void add_bases(Prompt& prompt, std::string_view given) const;
  void check_context(const Prompt& prompt) const;

  TokenLayout layout_, draft_layout_;
  bool with_draft_;
  size_t max_positions_, length_;
  std::vector<uint32_t> prefix_;
  Constraints constraints_;
};

}  // namespace carbon
