// A sample that is being generated, and the draws of many of them at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/decoder/kv_cache.hpp"
#include "src/fns/samplers.hpp"
#include "src/pipeline/generate_prompt.hpp"

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

  /// Draws the next 6-mer from 4,096 logits and counts its new bases.
  void take(std::span<const float> logits, Joint& joint, const SamplerOptions& options);
  /// The 6-mer that `logits` of another model would give at the place `proposed` behind the last; -1 if one
  /// of them is not finite.
  int draw_ahead(std::span<const float> logits, Joint& joint, const SamplerOptions& options) const;
  /// The new bases as text.
  std::string bases() const;
};

/// Calls f(i, joint) for i in [0, n) on up to `threads` threads, each with a Joint of its own. f must not
/// throw.
template <class F>
void for_rows(size_t n, int threads, F f) {
  if (n == 1 || threads == 1) {
    Joint joint;
    for (size_t i = 0; i < n; ++i) f(i, joint);
    return;
  }
#pragma omp parallel num_threads(threads)
  {
    Joint joint;
#pragma omp for schedule(dynamic)
    for (size_t i = 0; i < n; ++i) f(i, joint);
  }
}

}  // namespace carbon
