// The draft model of speculative decoding: it proposes 6-mers, and the target draws each 6-mer for itself.
//
// At each position draft and target draw with the same random numbers (sampling/samplers.hpp). A proposal is
// accepted if the target draws the same 6-mer, so that the output is the target's whatever the draft
// proposes. k-mers are compared by index, because their token ids may differ between the two
// vocabularies.
#pragma once

#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "src/engine/draft_counts.hpp"
#include "src/engine/draft_policy.hpp"
#include "src/engine/draws.hpp"
#include "src/engine/loaded_model.hpp"
#include "src/engine/sequence_run.hpp"

namespace carbon {

class Drafter {
 public:
  /// `draft_tokens`: 6-mers per round; without it DraftPolicy chooses the number.
  Drafter(LoadedModel& draft, std::optional<size_t> draft_tokens);

  /// 6-mers proposed for each sample in the next round, at most.
  size_t next() const { return policy_.next(); }
  /// Fills `proposed` of samples that are being generated with up to next() 6-mers each: fewer if fewer are
  /// missing, or if the draft's context ends.
  void propose(const std::vector<RunPtr>& runs);
  /// Called after the target has drawn: removes rejected 6-mers from the draft's cache and clears `proposed`.
  /// `drawn_before[i]` is how many 6-mers run i had before. `target_seconds` is the time of the target's
  /// pass. It is used for choosing the number of 6-mers only if `timed`: if the pass had no other rows.
  void record_draws(const std::vector<RunPtr>& runs, const std::vector<size_t>& drawn_before, bool timed,
                    double target_seconds);
  /// Called after memory has run out: shortens the draft's sequences of `generating` to the drawn 6-mers, and
  /// frees memory that is not needed.
  void recover(const std::deque<RunPtr>& generating);

  LoadedModel& model() const { return model_; }
  /// Rows of one of its passes, at most.
  size_t pass_limit() const;
  const DraftCounts& counts() const { return counts_; }

 private:
  /// A prompt's context in the draft's cache. The samples of the prompt share its keys and values.
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
  size_t asked_ = 0;  // 6-mers per sample in this round, at most
  double draft_seconds_ = 0;
  DraftCounts counts_;
};

}  // namespace carbon
