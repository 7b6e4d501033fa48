// From token sequences to hidden states, many at a time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "src/engine/engine.hpp"
#include "src/engine/jobs.hpp"

namespace carbon {

/// The layer behind the final norm; others count blocks, 1 to ModelConfig::layers (Decoder::residual).
inline constexpr int kFinalNorm = -1;

struct EmbedJob {
  std::vector<uint32_t> tokens;
  size_t want_begin = 0;  // rows [want_begin, tokens.size()) are wanted, at least one
  bool mean = false;      // not the rows themselves but their mean

  // Result: f32 [rows or 1, hidden].
  std::vector<float> rows;

  // As jobs.hpp wants them.
  size_t cost() const { return tokens.size(); }
  bool shares_with(const EmbedJob& other) const;
  size_t cost_beside(const EmbedJob&) const { return 0; }
  void join(const EmbedJob&) {}  // jobs share only what all of them ask for
  void take_results(const EmbedJob& joined) { rows = joined.rows; }
};

/// Runs the jobs, which want the same layer, as many at a time as the engine's batch limit allows; a longer
/// one runs in pieces, which its rows do not show. A mean is summed in double from the first row to the last.
void embed_jobs(Engine& engine, int layer, std::span<EmbedJob* const> jobs);

}  // namespace carbon
