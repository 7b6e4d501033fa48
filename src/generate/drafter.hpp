// The draft model of speculative decoding: proposes 6-mers that the target then draws for itself.
//
// Draft and target draw at a place with the same noise (fns/samplers.hpp). A proposal is kept where the
// target draws the same 6-mer; so the output is the target's, whatever the draft says. 6-mers are matched by
// index, so the two vocabularies may place them differently.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "src/engine/engine.hpp"
#include "src/engine/kmer_draws.hpp"
#include "src/generate/draft_policy.hpp"
#include "src/generate/sample.hpp"

namespace carbon {

class Drafter {
 public:
  /// Throws Error if there is metadata before <dna> and the draft's vocabulary of text is another one.
  Drafter(Engine& draft, const Engine& target, const GenerateOptions& options);

  bool on() const { return !policy_.off(); }
  const ModelConfig& config() const { return engine_.config(); }

  /// Decoder::give_back() of the draft.
  void give_back() { engine_.decoder().give_back(); }

  /// The draft's keys and values of prompts; nothing for one that is longer than its context.
  std::vector<std::optional<Sequence>> prefill(std::span<const std::shared_ptr<const Prompt>> prompts);

  /// Fills `proposed` of the rows, each with up to the number that the policy asks for, fewer where fewer
  /// 6-mers are missing or the draft's context ends.
  void propose(std::span<GenerateRow> rows);
  /// After the target has drawn: takes what was refused out of the draft's cache and `proposed`.
  /// `drawn_before[i]` is how many 6-mers row i had when they were proposed.
  void settle(std::span<GenerateRow> rows, std::span<const size_t> drawn_before, double target_seconds);
  /// What was drafted and accepted, to standard error.
  void report() const;

 private:
  size_t room(const GenerateRow& row) const;
  void step(std::span<GenerateRow* const> rows);

  Engine& engine_;
  DraftPolicy policy_;
  KmerDraws draws_;
  size_t asked_ = 0;  // of this round
  double draft_seconds_ = 0;
  struct {
    uint64_t rounds = 0, steps = 0, drafted = 0, tested = 0, accepted = 0;
    double draft_seconds = 0, target_seconds = 0;
  } total_;
};

/// Seconds since it was made.
class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace carbon
