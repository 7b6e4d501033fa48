// From the bounds that the user asks for to those of a prompt: which motifs must not occur, in which frame
// stop codons count, and whether anything is left to draw.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "src/generate/options.hpp"
#include "src/sampling/bounds.hpp"

namespace carbon {

/// The motifs of a text of IUPAC codes with commas, or, if the text is not one, of a file: FASTA, or one
/// motif per line, where lines that begin with # are comments. Throws Error.
std::vector<Motif> read_motifs(const std::string& text);
/// The motifs of texts of IUPAC codes. Throws Error.
std::vector<Motif> motifs_of(const std::vector<std::string>& texts);

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
