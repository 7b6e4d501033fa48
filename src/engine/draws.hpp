// Draws 6-mers from hidden rows: on the device where its backend serves the options of a draw, so that logits
// stay there; else on the host from downloaded logits. Both give the same bits.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "src/sampling/joint.hpp"
#include "src/sampling/samplers.hpp"
#include "src/transformer/decoder.hpp"
#include "src/transformer/head.hpp"

namespace carbon {

/// Draws from consecutive rows, in chains. The result of a draw says whether the next one of its chain is
/// still of use: a proposed 6-mer that was not drawn ends its chain.
struct DrawChains {
  std::vector<ops::KmerDraw> draws;  // draw i reads row i
  std::vector<size_t> ends;          // of each chain, in `draws`

  void add(const ops::KmerDraw& draw) { draws.push_back(draw); }
  void end_chain() { ends.push_back(draws.size()); }
};

/// Receives the results of a chain's draws in order until it returns false. Several threads may call it at a
/// time for different chains. It must not throw.
using TakeDrawn = std::function<bool(size_t chain, const ops::DrawnKmer&)>;

class KmerDraws {
 public:
  KmerDraws(ops::Backend& backend, Head& head, int threads);

  /// Draw i of `chains` reads row i of `rows`.
  void draw(const HiddenRows& rows, const Decoder& decoder, const DrawChains& chains, const TakeDrawn& take);

  /// Draws on the host, draw i from the 4,096 logits at logits[i].
  void draw_from_logits(const std::vector<const float*>& logits, const DrawChains& chains,
                        const TakeDrawn& take) const;

  /// Frees the device memory that is kept between two calls.
  void free_unused_memory() { device_logits_.reset(); }

 private:
  void draw_part(const HiddenRows& rows, const DrawChains& part, const TakeDrawn& take);

  ops::Backend& backend_;
  Head& head_;
  int threads_;
  DeviceBuffer device_logits_;      // [rows, 4096]
  std::vector<float> host_logits_;  // [rows, 4096]
  std::vector<ops::DrawnKmer> drawn_;
};

}  // namespace carbon
