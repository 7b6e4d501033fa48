// Bounds on the new bases as a whole: motifs that must not occur, stop codons, and GC content. Which 6-mers
// may be drawn next then depends on the bases drawn so far, and on whether the rest can still be completed.
//
// A table made beforehand, from the last base to the first, holds for every state of the motifs and every
// count of G and C whether some choice of the bases that follow meets all bounds and the constraint. So a
// draw never runs into a dead end, and exactly those 6-mers are left out after which there is none.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
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

/// Finds motifs while a sequence grows: knows after every base which motifs have begun and which one has just
/// ended.
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

/// The GC content of windows that follow one another, from the first new base on. The last window also has
/// the bases that are too few for another one.
struct GcBound {
  double least = 0, most = 100;  // per cent
  size_t window = 0;             // bases; 0: all new bases are one window
};

/// The memory that the table of the bounds may take, in MiB.
inline constexpr size_t kMostTableMiB = 1024;

/// Where a growing sequence stands for its bounds.
struct BoundState {
  uint32_t motifs = 0;  // MotifAutomaton::State
  uint32_t gc = 0;      // G and C so far in the window
};

class BoundedBases {
 public:
  /// `frames`: bit f is set if a codon begins at new base f (from 0), so that stop codons of the automaton
  /// count where they end in that frame. Throws Error if the table would take more than `most_mib` MiB.
  BoundedBases(std::shared_ptr<const MotifAutomaton> motifs, std::optional<GcBound> gc, uint8_t frames,
               NewBases bases, size_t most_mib = kMostTableMiB);

  /// The state before the first new base, after these bases of the prompt.
  BoundState start(std::string_view prompt) const { return {motifs_->after(prompt), 0}; }
  /// True if there are new bases that meet all bounds and the constraint.
  bool possible(const BoundState& start) const { return can_end(0, start); }
  /// The 6-mers that may become new 6-mer `kmer` (from 0); not empty if `state` came from one of those
  /// before.
  KmerSet allowed(const BoundState& state, size_t kmer) const;
  /// The state after new 6-mer `kmer`.
  BoundState next(BoundState state, size_t kmer, size_t drawn) const;

 private:
  /// What counts at one new base.
  struct Place {
    bool ends_codon = false;             // of a frame without stop codons
    bool ends_window = false;            // of GC content
    uint32_t least_gc = 0, most_gc = 0;  // in that window
  };
  Place place(size_t base) const;
  size_t base_before(size_t kmer) const;
  bool breaks_motifs(MotifAutomaton::State state, const Place& place) const {
    return motifs_->ends_motif(state) || (place.ends_codon && motifs_->ends_stop_codon(state));
  }
  /// Appends a base. Returns false if a bound is broken.
  bool append(BoundState& state, const Place& place, size_t base) const;
  void fill_table();
  /// From the counts, of each state, that can be completed after new base `at` to those that can before it.
  void step_back(size_t at, const std::vector<uint64_t>& after, std::vector<uint64_t>& before) const;
  bool can_end(size_t kmer, const BoundState& state) const;
  struct Extension;
  void extend(Extension& extension, const BoundState& state, size_t bases, size_t prefix) const;

  std::shared_ptr<const MotifAutomaton> motifs_;
  std::optional<GcBound> gc_;
  uint8_t frames_;
  NewBases bases_;
  size_t words_ = 1;             // per state: a bit for each count of G and C
  std::vector<uint64_t> table_;  // [new 6-mers + 1, states, words]
};

}  // namespace carbon
