// 6-mers drawn behind hidden rows: on the engine's device where its backend draws by the options, so that
// logits stay there, else on the host from logits that it downloads. To the same bits.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "src/engine/engine.hpp"
#include "src/sampling/samplers.hpp"

namespace carbon {

/// Draws, in chains of one or several: what comes of the first ones says whether the later ones are of use.
struct DrawChains {
  std::vector<ops::KmerDraw> draws;
  std::vector<size_t> ends;  // of each chain, in `draws`

  void add(ops::KmerDraw draw, size_t row) {
    draw.row = static_cast<uint32_t>(row);
    draws.push_back(draw);
  }
  void end_chain() { ends.push_back(draws.size()); }
};

class KmerDraws {
 public:
  /// Is given what the draws of a chain come to, in order, until it says false. Several threads may call it
  /// at a time for several chains. It must not throw.
  using Take = std::function<bool(size_t chain, const ops::DrawnKmer&)>;

  KmerDraws(Engine& engine, const SamplerOptions& sampler);

  /// Computes the logits of `rows` and keeps them for draw().
  void keep(const HiddenRows& rows);
  /// Draws from the rows kept.
  void draw(const DrawChains& chains, const Take& take);
  /// Draws from `rows`, of which draw i reads row i. Takes the place of what keep() has kept.
  void draw(const HiddenRows& rows, const DrawChains& chains, const Take& take);

 private:
  void draw_on_host(const DrawChains& chains, const Take& take);

  Engine& engine_;
  SamplerOptions sampler_;
  bool on_device_;
  // [rows, 4096] that keep() has kept, in one of them.
  DeviceBuffer device_logits_;
  std::vector<float> host_logits_;
  std::vector<ops::DrawnKmer> drawn_;
};

}  // namespace carbon
