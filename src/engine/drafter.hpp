// The draft model of speculative decoding: it proposes 6-mers that the target then draws for itself.
//
// Draft and target draw at a place with the same noise (sampling/samplers.hpp). A proposal is kept where the
// target draws the same 6-mer, so the output is the target's, whatever the draft says. 6-mers are matched by
// index: the two vocabularies may place them differently.
#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "src/engine/draft_policy.hpp"
#include "src/engine/draws.hpp"
#include "src/engine/loaded_model.hpp"
#include "src/engine/sequence_run.hpp"

namespace carbon {

struct DraftCounts {
  uint64_t rounds = 0, steps = 0, drafted = 0, tested = 0, accepted = 0;
  double draft_seconds = 0, target_seconds = 0;
};

class Drafter {
 public:
  /// `draft_tokens`: 6-mers per round; without it the number is chosen from what is measured.
  Drafter(LoadedModel& draft, std::optional<size_t> draft_tokens);

  /// 6-mers to propose for each sample in the next round, at most.
  size_t next() const { return policy_.next(); }
  /// Fills `proposed` of living samples with up to next() 6-mers each. It is fewer where fewer 6-mers are
  /// missing or the draft's context ends.
  void propose(const std::vector<RunPtr>& runs);
  /// After the target has drawn: removes what was refused from the draft's cache and clears `proposed`.
  /// `drawn_before[i]` is how many 6-mers run i had when they were proposed. `target_seconds` is the time of
  /// the target's pass, which counts for the choice only if `timed`: if nothing else was in that pass.
  void settle(const std::vector<RunPtr>& runs, const std::vector<size_t>& drawn_before, bool timed,
              double target_seconds);
  /// After memory has run out: brings the draft's sequences of `living` back to what has been drawn, and
  /// frees what is not needed.
  void recover(const std::deque<RunPtr>& living);

  const DraftCounts& counts() const { return counts_; }

 private:
  /// A context whose keys and values in the draft's cache are shared by the samples of one prompt.
  struct Context {
    std::shared_ptr<const std::vector<uint32_t>> tokens;
    Sequence sequence;
  };
  void read_contexts(const std::vector<RunPtr>& runs);
  size_t room(const SequenceRun& run) const;
  void step(const std::vector<RunPtr>& runs);

  LoadedModel& model_;
  DraftPolicy policy_;
  KmerDraws draws_;
  std::unordered_map<const std::vector<uint32_t>*, Context> contexts_;
  size_t asked_ = 0;  // of this round
  double draft_seconds_ = 0;
  DraftCounts counts_;
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
