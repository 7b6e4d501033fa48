// Finds motifs while a sequence grows: an automaton that knows after every base which motifs have begun and
// which one has just ended.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "src/sampling/allowed_bases.hpp"

namespace carbon {

struct Motif {
  std::vector<BaseSet> bases;  // one set per position, not empty
  bool stop_codon = false;     // counts only where it ends a codon of a reading frame
};

/// The motif of the other strand.
Motif reverse_complement(const Motif& motif);
/// TAA, TAG and TGA.
std::vector<Motif> stop_codons();

class MotifAutomaton {
 public:
  using State = uint32_t;
  static constexpr State kStart = 0;  // nothing has begun

  /// Throws Error if the motifs need too many states, which long motifs with many ambiguous letters do.
  explicit MotifAutomaton(std::span<const Motif> motifs);

  size_t states() const { return ends_.size(); }
  /// The state after one more base, given by its digit.
  State next(State state, size_t base) const { return next_[state][base]; }
  /// The state after a sequence. A letter other than A, C, G and T belongs to no motif.
  State after(std::string_view sequence) const;
  /// True if a motif that is not a stop codon has just ended.
  bool ends_motif(State state) const { return (ends_[state] & kMotif) != 0; }
  bool ends_stop_codon(State state) const { return (ends_[state] & kStopCodon) != 0; }

 private:
  static constexpr uint8_t kMotif = 1, kStopCodon = 2;

  std::vector<std::array<State, ops::kLetters>> next_;
  std::vector<uint8_t> ends_;  // flags of what ends in a state
  size_t longest_ = 0;         // letters of the longest motif
};

}  // namespace carbon
