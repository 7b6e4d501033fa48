#include "src/engine/kmer_draws.hpp"

#include <algorithm>

namespace carbon {
namespace {

// Rows whose logits are there at a time, unless one chain has more: 16 MiB.
constexpr size_t kRows = 1024;

}  // namespace

KmerDraws::KmerDraws(Engine& engine, const SamplerOptions& sampler)
    : engine_(engine),
      sampler_(sampler),
      on_device_(engine.backend().draw(nullptr, {}, sampler, nullptr)),
      device_logits_(engine.backend()) {}

void KmerDraws::keep(const HiddenRows& rows) {
  const size_t count = rows.count * ops::kKmers;
  if (on_device_) return engine_.head().kmer_logits_on_device(rows, device_logits_.floats(count));
  host_logits_.resize(count);
  engine_.head().kmer_logits(rows, host_logits_.data());
}

void KmerDraws::draw(const DrawChains& chains, const Take& take) {
  drawn_.resize(chains.draws.size());
  if (!on_device_ || !engine_.backend().draw(device_logits_.floats(), chains.draws, sampler_, drawn_.data()))
    return draw_on_host(chains, take);
  for (size_t c = 0, at = 0; c < chains.ends.size(); at = chains.ends[c++])
    while (at < chains.ends[c] && take(c, drawn_[at])) ++at;
}

// Draws that nobody takes are left out.
void KmerDraws::draw_on_host(const DrawChains& chains, const Take& take) {
  const size_t n = chains.ends.size();
  const int threads = static_cast<int>(std::min(n, static_cast<size_t>(engine_.threads())));
#pragma omp parallel num_threads(threads) if (threads > 1)
  {
    Joint joint;
#pragma omp for schedule(dynamic)
    for (size_t c = 0; c < n; ++c)
      for (size_t at = c == 0 ? 0 : chains.ends[c - 1]; at < chains.ends[c]; ++at) {
        const ops::KmerDraw& draw = chains.draws[at];
        const auto logits = std::span(host_logits_).subspan(draw.row * ops::kKmers, ops::kKmers);
        if (!take(c, carbon::draw_on_host(joint, logits, draw, sampler_))) break;
      }
  }
}

void KmerDraws::draw(const HiddenRows& rows, const DrawChains& chains, const Take& take) {
  const size_t row_bytes = engine_.config().hidden * dtype_size(engine_.backend().dtype());
  const size_t n = chains.ends.size();
  for (size_t c = 0; c < n;) {
    const size_t first_chain = c, first = c == 0 ? 0 : chains.ends[c - 1];
    DrawChains part;
    do {
      for (size_t at = first + part.draws.size(); at < chains.ends[c]; ++at)
        part.add(chains.draws[at], at - first);
      part.end_chain();
    } while (++c < n && chains.ends[c] - first <= kRows);
    keep({static_cast<const char*>(rows.act) + first * row_bytes, part.draws.size(), rows.row_class});
    draw(part, [&](size_t chain, const ops::DrawnKmer& drawn) { return take(first_chain + chain, drawn); });
  }
}

}  // namespace carbon
