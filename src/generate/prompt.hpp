// From a FASTA record, or from token ids, to a prompt: the tokens of its context, and the bases that the
// prompt and the constraint allow at every new position.
//
// A prompt whose length is not a multiple of the bases of a token ends inside one. Its last bases then begin
// the first new token, whose other bases are drawn. Nothing is padded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "src/base/error.hpp"
#include "src/files/sequence_output.hpp"
#include "src/formats/fasta.hpp"
#include "src/generate/bounds.hpp"
#include "src/generate/run.hpp"
#include "src/model/checkpoint.hpp"
#include "src/sampling/allowed_bases.hpp"

namespace carbon {

/// Throws Error if the tokens of the draft model are other numbers of bases than the model's, and if there is
/// metadata that it cannot read, because its text vocabulary is not the model's.
void check_draft(const Checkpoint& model, const Checkpoint& draft, bool metadata);

/// The number of new bases is wrong for the prompt: its constraint has more, or they do not fit the model's
/// context.
class WrongLength : public Error {
 public:
  explicit WrongLength(const std::string& message)
      : Error("generate", message, {"set the number of new bases with {--length}"}) {}
};

struct Prompt {
  uint64_t record = 0;  // its number in the input, from 0
  std::string name;
  std::string sequence;  // as in the file; of a prompt of ids its k-mers, with N for <oov>
  std::vector<uint32_t>
      context;            // what begins a sequence, with metadata, then whole k-mers: ids of the model
  size_t first_kmer = 0;  // how many tokens of the context stand before the k-mers
  /// The same as ids of the draft model; null if there is none.
  std::shared_ptr<const std::vector<uint32_t>> draft_context;
  std::shared_ptr<const NewBases> bases;
  std::shared_ptr<const BoundedBases> bounds;  // null: there are none
  BoundState bound_start;                      // after the bases of the prompt
  SequencesDone done;                          // this prompt and those before it in the run
};

/// The constraints of GenerateOptions: which bases are allowed at the first new positions.
class Constraints {
 public:
  /// Throws Error for a letter that is not an IUPAC code and for two records of one name, and WrongLength for
  /// a constraint longer than the new bases.
  explicit Constraints(const GenerateOptions& options);
  /// The allowed bases for the prompt of this name; empty if there is no constraint. Throws Error if the file
  /// has constraints for other prompts but none for this one.
  const std::vector<BaseSet>& of(const std::string& name) const;

 private:
  std::string path_;
  std::vector<BaseSet> common_;
  std::unordered_map<std::string, std::vector<BaseSet>> by_name_;
};

class PromptPlanner {
 public:
  /// Prompts of bases have the metadata of the model's layout. `draft`: configuration of the draft model,
  /// which has passed check_draft() and gets the same metadata, or null. Throws Error for a sampler that the
  /// model does not have.
  PromptPlanner(const ModelConfig& model, const ModelConfig* draft, const GenerateOptions& options);

  /// Throws Error for a prompt without A, C, G or T, for one that does not fit the model's context, and for
  /// one after which no new bases meet the bounds. Throws WrongLength, which names the largest number that
  /// would fit, for one that fits, but not with its new bases.
  Prompt plan(uint64_t record, const FastaRecord& fasta) const;
  /// The prompt for generating without prompts: what begins a sequence, alone.
  Prompt plan_unconditional() const;
  /// A prompt of ids of the model: what begins a sequence, with metadata (not the layout's), then any
  /// number of k-mers and <oov>. A separator at the end is left out, so that the sequence goes on. Throws
  /// Error, which says where, for ids of another form, for metadata that the draft model cannot read, and for
  /// what does not fit.
  Prompt plan_ids(uint64_t record, const std::string& name, std::span<const uint32_t> ids) const;

 private:
  Prompt start(uint64_t record, const std::string& name, std::string_view whole) const;
  size_t find_kmers(const std::string& name, std::span<const uint32_t> ids) const;
  void check_kmers(const std::string& name, std::span<const uint32_t> ids, size_t first_kmer) const;
  void add_bases(Prompt& prompt, std::string_view given) const;
  void check_context(const Prompt& prompt) const;

  TokenLayout layout_, draft_layout_;
  bool with_draft_;
  size_t max_positions_, length_;
  Constraints constraints_;
  PromptBounds bounds_;
};

}  // namespace carbon
