// What OpenAI's endpoints are asked: the prompts, which embeddings have as well, and the other fields of POST
// /v1/completions (docs/serving.md has them in a table), with what looks for the stop strings among them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/sampling/samplers.hpp"
#include "src/serve/run.hpp"
#include "src/verbs/fields.hpp"
#include "src/verbs/generate.hpp"
#include "src/verbs/served_model.hpp"

namespace carbon {

/// The prompts of a field: a string, a list of strings, a list of ids, or a list of lists of ids.
std::vector<SentPrompt> read_prompts(const Fields& fields, const std::string& name, const ServedModel& served,
                                     size_t most);

/// Its bases; of ids, a k-mer that is not one of A, C, G and T is N, k times.
std::string bases_of(const SentPrompt& prompt, const TokenLayout& layout);

struct CompletionRequest {
  std::vector<SentPrompt> prompts;
  size_t samples = 1;      // per prompt
  size_t max_tokens = 16;  // 6-mers; 0: none, for a prompt that is only scored
  SamplerOptions sampler;  // with the seed that was given or drawn
  std::vector<std::string> stops;
  bool echo = false, stream = false;
  bool include_usage = false;  // a last event of a stream has it
  bool token_ids = false;
  std::optional<size_t> logprobs, prompt_logprobs;  // how many of the likeliest 6-mers
};

/// Throws ApiError for fields that are wrong, are not supported, or go beyond the limits.
CompletionRequest read_completion(const Fields& fields, const ServedModel& served,
                                  const RequestLimits& limits);

/// The new bases of a sample, and where they end. A stop string may begin and end inside 6-mers; it is cut
/// off. If several end at the same base, the longest counts.
class StoppedText {
 public:
  /// Strings of any case, in which U is T; those with other letters than A, C, G and T are never found.
  explicit StoppedText(std::vector<std::string> stops);

  /// Adds bases. Returns false if the text has ended, and ignores what follows the end.
  bool add(std::string_view bases);
  /// The bases so far, without the stop string.
  const std::string& text() const { return text_; }
  bool stopped() const { return !found_.empty(); }
  /// The stop string that was found, "" for none.
  const std::string& found() const { return found_; }
  /// So many bases of text() are certainly not the beginning of a stop string.
  size_t certain() const;

 private:
  // The time for a base must not depend on the length of a string.
  struct Stop {
    explicit Stop(std::string bases);
    /// Adds a base. Is it the last of the string?
    bool add(char base);

    std::string letters;
    std::vector<size_t> shorter;  // [i]: with how many bases, at most i, it begins and its first i + 1 end
    size_t met = 0;               // with how many bases it begins and the text ends
  };

  std::vector<Stop> stops_;
  std::string text_, found_;
};

}  // namespace carbon
