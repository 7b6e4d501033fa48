#include "src/pipeline/generate_row.hpp"

namespace carbon {

void GenerateRow::take(std::span<const float> logits, Joint& joint, const SamplerOptions& options) {
  const size_t position = kmers.size();
  finite = joint.assign(logits, prompt->allowed(position));
  if (!finite) return;
  const DrawPlace place{prompt->record, sample, static_cast<uint32_t>(position)};
  const size_t kmer = draw_kmer(joint, options, place);
  logp += log_probability(joint, options.kind, kmer, prompt->first(position), prompt->last(position));
  kmers.push_back(static_cast<uint16_t>(kmer));
}

int GenerateRow::draw_ahead(std::span<const float> logits, Joint& joint,
                            const SamplerOptions& options) const {
  const size_t position = kmers.size() + proposed.size();
  if (!joint.assign(logits, prompt->allowed(position))) return -1;
  const DrawPlace place{prompt->record, sample, static_cast<uint32_t>(position)};
  return static_cast<int>(draw_kmer(joint, options, place));
}

std::string GenerateRow::bases() const {
  std::string text;
  text.reserve(kmers.size() * kKmerLength);
  for (const uint16_t kmer : kmers) text += kmer_text(kmer);
  return text.substr(prompt->given, prompt->length);
}

}  // namespace carbon
