#include "src/engine/draws.hpp"

#include <algorithm>

namespace carbon {
namespace {

// Rows whose logits are in memory at a time (16 MiB), unless one chain has more rows.
constexpr size_t kRows = 1024;

}  // namespace

KmerDraws::KmerDraws(ops::Backend& backend, Head& head, ThreadPool& pool)
    : backend_(backend), head_(head), pool_(pool), device_logits_(backend) {}

void KmerDraws::draw(const HiddenRows& rows, const Decoder& decoder, const DrawChains& chains,
                     const TakeDrawn& take) {
  const size_t n = chains.ends.size();
  for (size_t c = 0; c < n;) {
    const size_t first_chain = c, first = c == 0 ? 0 : chains.ends[c - 1];
    DrawChains part;
    do {
      for (size_t at = first + part.draws.size(); at < chains.ends[c]; ++at) {
        part.add(chains.draws[at]);
        part.draws.back().row = static_cast<uint32_t>(at - first);
      }
      part.end_chain();
    } while (++c < n && chains.ends[c] - first <= kRows);
    draw_part(decoder.part(rows, first, part.draws.size(), rows.row_class), part,
              [&](size_t chain, const ops::DrawnKmer& drawn) { return take(first_chain + chain, drawn); });
  }
}

void KmerDraws::draw_part(const HiddenRows& rows, const DrawChains& part, const TakeDrawn& take) {
  const size_t kmers = head_.kmer_count();
  // Devices draw 6-mers. Among fewer the host draws at least as fast.
  const auto on_device = [&](const SampleDraw& draw) {
    return kmers == ops::kKmers && draw.bounds == nullptr && backend_.draws(draw.options);
  };
  std::vector<const float*> logits;
  const auto list_host_rows = [&] {
    for (size_t i = 0; i < rows.count; ++i) logits.push_back(host_logits_.data() + i * kmers);
  };
  if (std::none_of(part.draws.begin(), part.draws.end(), on_device)) {
    host_logits_.resize(std::max(host_logits_.size(), rows.count * kmers));
    head_.kmer_logits(rows, host_logits_.data());
    list_host_rows();
    return draw_from_logits(logits, part, take);
  }
  auto* const device = static_cast<float*>(
      device_logits_.ensure(rows.count * kmers * sizeof(float), kRows * kmers * sizeof(float)));
  head_.kmer_logits_on_device(rows, device);
  std::vector<ops::KmerDraw> draws;
  std::copy_if(part.draws.begin(), part.draws.end(), std::back_inserter(draws), on_device);
  drawn_.resize(draws.size());
  backend_.draw(device, draws, drawn_.data());
  const bool all = draws.size() == part.draws.size();
  if (!all) {
    host_logits_.resize(std::max(host_logits_.size(), rows.count * kmers));
    backend_.download(device, rows.count * kmers, host_logits_.data());
    list_host_rows();
  }
  // All draws of a chain have the options and the bounds of one request, so that either the device or the
  // host draws all of them.
  DrawChains host;
  std::vector<size_t> host_chains;
  std::vector<const float*> host_rows;
  for (size_t c = 0, at = 0, next = 0; c < part.ends.size(); at = part.ends[c++]) {
    if (on_device(part.draws[at])) {
      const size_t first = next;
      next += part.ends[c] - at;
      for (size_t i = first; i < next && take(c, drawn_[i]);) ++i;
      continue;
    }
    for (size_t i = at; i < part.ends[c]; ++i) {
      host.add(part.draws[i]);
      host_rows.push_back(logits[i]);
    }
    host.end_chain();
    host_chains.push_back(c);
  }
  if (!all)
    draw_from_logits(host_rows, host, [&](size_t chain, const ops::DrawnKmer& drawn) {
      return take(host_chains[chain], drawn);
    });
}

// Once `take` returns false, the rest of the chain is not drawn.
void KmerDraws::draw_from_logits(const std::vector<const float*>& logits, const DrawChains& chains,
                                 const TakeDrawn& take) const {
  const size_t kmers = head_.kmer_count();
  std::vector<Joint> joints(static_cast<size_t>(pool_.size()));  // without memory until a thread draws
  pool_.run(chains.ends.size(), [&](size_t c, size_t thread) {
    for (size_t at = c == 0 ? 0 : chains.ends[c - 1]; at < chains.ends[c]; ++at)
      if (!take(c, draw_on_host(joints[thread], {logits[at], kmers}, chains.draws[at]))) break;
  });
}

}  // namespace carbon
