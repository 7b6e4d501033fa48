// A sample that is being generated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "src/generate/prompt.hpp"
#include "src/sampling/samplers.hpp"
#include "src/transformer/kv_cache.hpp"

namespace carbon {

struct GenerateRow {
  std::shared_ptr<const Prompt> prompt;
  uint32_t sample = 0;
  std::vector<uint16_t> kmers;       // drawn so far
  std::vector<uint16_t> proposed;    // by the draft, for the places behind them
  std::optional<Sequence> sequence;  // the context and all of `kmers` but the last
  std::optional<Sequence> draft;     // a beginning of the same in the draft's cache; none: not drafted
  double logp = 0;                   // natural log, of the new bases drawn so far
  bool finite = true;                // false: a row of logits was not

  size_t missing() const { return prompt->kmers() - kmers.size(); }
  bool done() const { return missing() == 0; }

  /// The draw at new 6-mer `position`; which row of logits it reads is for the caller to say.
  ops::KmerDraw draw(size_t position) const;
  /// Takes what was drawn at the next position and counts its new bases.
  void take(const ops::DrawnKmer& drawn);
  /// The new bases as text.
  std::string bases() const;
};

}  // namespace carbon
