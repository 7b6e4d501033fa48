#include "src/generate/sample.hpp"

namespace carbon {

ops::KmerDraw GenerateRow::draw(size_t position) const {
  ops::KmerDraw draw;
  draw.counter = draw_counter({prompt->record, sample, static_cast<uint32_t>(position)});
  draw.allowed = prompt->allowed(position);
  draw.first = static_cast<uint8_t>(prompt->first(position));
  draw.last = static_cast<uint8_t>(prompt->last(position));
  return draw;
}

void GenerateRow::take(const ops::DrawnKmer& drawn) {
  finite = drawn.finite != 0;
  if (!finite) return;
  logp += drawn.logp;
  kmers.push_back(static_cast<uint16_t>(drawn.kmer));
}

std::string GenerateRow::bases() const {
  std::string text;
  text.reserve(kmers.size() * kKmerLength);
  for (const uint16_t kmer : kmers) text += kmer_text(kmer);
  return text.substr(prompt->given, prompt->length);
}

}  // namespace carbon
