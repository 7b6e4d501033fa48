// From the bounds that the user asks for to those of a prompt: which motifs must not occur, in which frame
// stop codons count, and whether anything is left to draw.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/base/error.hpp"
#include "src/base/settings.hpp"
#include "src/sampling/bounds.hpp"

namespace carbon {

/// Bounds on the new bases as a whole. They also count for what begins in the prompt and ends in the new
/// bases.
struct BoundOptions {
  std::optional<std::pair<double, double>> gc;  // GC content in per cent: the lowest and the highest
  size_t gc_window = 0;                         // new bases that it is bounded in; 0: all
  std::vector<Motif> avoided;                   // on both strands
  std::vector<size_t> frames;  // no stop codon in these: 0, 1, 2: the new base that begins a codon
  bool prompt_frame = false;   // no stop codon in the frame that begins with the first base of the prompt
  size_t max_homopolymer = 0;  // longest run of one base; 0: any
  size_t most_mib = kMostTableMiB;  // the memory that following them may take, for each prompt
};
/// The settings of GenerateOptions::bounds.
SettingList bound_settings(BoundOptions& bounds);

bool has_bounds(const BoundOptions& options);
/// The bounds in a form that is equal for equal bounds; "none" if there are none.
std::string bounds_text(const BoundOptions& options);

class PromptBounds {
 public:
  explicit PromptBounds(const BoundOptions& options);

  /// False if there are no bounds; then of() may not be called.
  bool any() const { return motifs_ != nullptr; }
  /// The bounds of the new bases `bases` of a prompt. Throws Error if no new bases meet them; the message
  /// names the bounds, and those without which there would be some. Only one thread at a time may call it.
  std::shared_ptr<const BoundedBases> of(const std::string& name, std::string_view prompt,
                                         const NewBases& bases) const;

 private:
  uint8_t frames(size_t prompt_bases) const;
  Error impossible(const std::string& name, std::string_view prompt, const NewBases& bases) const;

  /// What of() made last, for prompts that end in the same way.
  struct Made {
    uint8_t frames = 0;
    size_t given = 0;
    std::vector<BaseSet> sets;
    std::shared_ptr<const BoundedBases> bounds;
  };

  BoundOptions options_;
  std::shared_ptr<const MotifAutomaton> motifs_;
  mutable std::vector<Made> made_;
};

}  // namespace carbon
