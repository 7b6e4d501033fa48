// The draft model of speculative decoding: it proposes 6-mers, and the target draws each 6-mer for itself.
//
// At each position draft and target draw with the same random numbers (sampling/samplers.hpp). A proposal is
// accepted if the target draws the same 6-mer, so that the output is the target's whatever the draft
// proposes. k-mers are compared by index, because their token ids may differ between the two
// vocabularies.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "src/engine/draws.hpp"
#include "src/engine/loaded_model.hpp"
#include "src/engine/sequence_run.hpp"

namespace carbon {

/// What speculative decoding has done so far.
struct DraftCounts {
  uint64_t rounds = 0, steps = 0, drafted = 0, tested = 0, accepted = 0;
  double draft_seconds = 0, target_seconds = 0;

  DraftCounts& operator+=(const DraftCounts& other);
};

/// What happened in one round.
struct DraftRound {
  size_t k = 0;         // 6-mers drafted per sample, at most
  size_t rows = 0;      // samples that are being generated
  uint64_t tested = 0;  // drafted 6-mers up to and including the first rejected one, over all samples
  uint64_t accepted = 0;
  double draft_seconds = 0, target_seconds = 0;
};

/// How many 6-mers to draft per round: a fixed number, or the number that is fastest according to the
/// acceptance and the times measured so far.
///
/// A round drafts k 6-mers per sample in k steps of the draft model, and the target checks them in one chunk
/// of k + 1 tokens. If each drafted 6-mer is accepted with probability a, independently of the others, a
/// round yields E(k) = (1 - a^(k+1)) / (1 - a) 6-mers (Leviathan et al. 2023, eq. 1), so that the speed is
/// E(k) / (draft time + target time). The choice changes the time that a run takes and no byte of its output.
class DraftPolicy {
 public:
  /// `fixed`: 6-mers per round; without it the policy chooses the number.
  explicit DraftPolicy(std::optional<size_t> fixed) : fixed_(fixed) {}

  /// 6-mers to draft per sample in the next round; 0 in a round that measures the target alone, and if off().
  size_t next() const;
  void record(const DraftRound& round);
  /// True if drafting was found to be slower than not drafting. It then stays true.
  bool off() const { return off_; }
  /// Share of tested 6-mers that were accepted.
  double acceptance() const { return tested_ > 0 ? accepted_ / tested_ : 0; }

  /// E(k): 6-mers a round yields on average.
  static double expected(double acceptance, size_t k);

 private:
  // The values of k that are measured. Times of the other values are interpolated linearly.
  static constexpr std::array<size_t, 5> kMeasured = {0, 1, 3, 7, 15};
  struct Cost {
    int samples = 0;
    double seconds = 0;  // of one round of this k
  };

  void start_measuring();
  void choose();
  double seconds(size_t k) const;

  std::optional<size_t> fixed_;
  bool off_ = false;
  bool measuring_ = true;
  size_t turn_ = 0;  // measuring rounds done
  size_t chosen_ = 0, steady_rounds_ = 0;
  size_t rows_ = 0;  // number of samples for which the costs hold
  std::array<Cost, kMeasured.size()> costs_;
  double tested_ = 0, accepted_ = 0;
};

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
