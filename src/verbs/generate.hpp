// generate: samples of new bases after prompts, as `carbon generate` draws them; prompt i has the draws of
// record i of a FASTA. A result is a sample: sequence, logp, and if asked for probabilities [bases, 4].
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "src/generate/prompt.hpp"
#include "src/generate/run.hpp"
#include "src/verbs/verb.hpp"

namespace carbon {

/// Metadata, and the bases.
struct DnaText {
  std::string metadata;
  std::string bases;
};
/// A text, or the ids of one.
using SentPrompt = std::variant<DnaText, std::vector<uint32_t>>;

/// The model's configuration with the metadata of the text, for planners of its bases.
ModelConfig config_for(const DnaText& text, const ServedModel& served);

/// A prompt that is to be continued with the options' number of new bases. Of several prompts, `record` is
/// the number from 0, as of records in a FASTA.
Prompt plan_prompt(const ServedModel& served, const SentPrompt& prompt, uint64_t record,
                   const GenerateOptions& options);

class GenerateVerb : public Verb {
 public:
  virtual const GenerateOptions& options() const = 0;
  virtual bool gives_probabilities() const = 0;
};

/// Throws Error.
std::unique_ptr<Verb> make_generate_verb(const VerbContext& context, const ReadSettings& read);

}  // namespace carbon
