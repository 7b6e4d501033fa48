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

#include "src/generate/run.hpp"
#include "src/genome/fasta.hpp"
#include "src/model/config.hpp"
#include "src/sampling/allowed_bases.hpp"

namespace carbon {

struct Prompt {
  uint64_t record = 0;  // 0-based number in the input
  std::string name;
  std::string sequence;                 // as in the file
  std::vector<uint32_t> context;        // prefix, <dna> and the whole 6-mers, in the model's ids
  std::vector<uint32_t> draft_context;  // the same in the draft's ids
  size_t given = 0;                     // bases of the first new 6-mer that belong to the prompt, 0 to 5
  size_t length = 0;                    // new bases
  std::vector<BaseSet> sets;            // from the first of the `given` bases on; beyond its end any base

  /// New 6-mers, the last of which may be cut.
  size_t kmers() const { return (given + length + kKmerLength - 1) / kKmerLength; }
  AllowedBases allowed(size_t kmer) const;
  /// Bases [first, last) of new 6-mer `kmer` that are written.
  size_t first(size_t kmer) const { return kmer == 0 ? given : 0; }
  size_t last(size_t kmer) const;
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
  void check_context(const Prompt& prompt) const;

  TokenLayout layout_, draft_layout_;
  bool with_draft_;
  size_t max_positions_, length_;
  std::vector<uint32_t> prefix_;
  Constraints constraints_;
};

}  // namespace carbon
