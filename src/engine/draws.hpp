// Draws k-mers from hidden rows. The device draws if its backend supports the options of the draw, so that
// the logits need not be downloaded; else, and under bounds, the host draws from downloaded logits. Both give
// the same bits.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "src/base/threads.hpp"
#include "src/sampling/joint.hpp"
#include "src/sampling/samplers.hpp"
#include "src/transformer/decoder.hpp"
#include "src/transformer/head.hpp"

namespace carbon {

/// Draws from consecutive rows, grouped into chains. The result of a draw decides whether the next draw of
/// its chain is still needed: a chain ends at the first proposed 6-mer that is not the one drawn.
struct DrawChains {
  std::vector<SampleDraw> draws;  // draw i reads row i
  std::vector<size_t> ends;       // where in `draws` each chain ends

  void add(SampleDraw draw) { draws.push_back(std::move(draw)); }
  void end_chain() { ends.push_back(draws.size()); }
};

/// Receives the results of a chain's draws in order until it returns false. Several threads may call it at
/// once, for different chains.
using TakeDrawn = std::function<bool(size_t chain, const ops::DrawnKmer&)>;

class KmerDraws {
 public:
  KmerDraws(ops::Backend& backend, Head& head, ThreadPool& pool);

  /// Draw i of `chains` reads row i of `rows`.
  void draw(const HiddenRows& rows, const Decoder& decoder, const DrawChains& chains, const TakeDrawn& take);

  /// Draws on the host, draw i from the 4^k logits at logits[i].
  void draw_from_logits(const std::vector<const float*>& logits, const DrawChains& chains,
                        const TakeDrawn& take) const;

  /// Frees the device memory that is kept between calls.
  void free_unused_memory() { device_logits_.reset(); }

 private:
  void draw_part(const HiddenRows& rows, const DrawChains& part, const TakeDrawn& take);

  ops::Backend& backend_;
  Head& head_;
  ThreadPool& pool_;
  DeviceBuffer device_logits_;      // [rows, 4^k]
  std::vector<float> host_logits_;  // [rows, 4^k]
  std::vector<ops::DrawnKmer> drawn_;
};

}  // namespace carbon
