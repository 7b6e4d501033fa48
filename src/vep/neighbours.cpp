#include "src/vep/neighbours.hpp"

#include <algorithm>
#include <span>

#include "src/base/error.hpp"

namespace carbon {
namespace {

constexpr size_t kMostSamples = 8;
constexpr int64_t kMostBases = 6;  // between neighbours, as carbon +haplotypes joins them by default

}  // namespace

NeighbourCount::NeighbourCount(const VcfReader& vcf) : vcf_(vcf) {
  const size_t samples = vcf.samples().size();
  const bool joined = vcf.info_type("CARBON_PARTS") != InfoType::none;
  if (samples <= kMostSamples && !joined) samples_.resize(samples);
}

void NeighbourCount::add(const VcfRecord& record) {
  if (samples_.empty()) return;
  if (record.contig() != contig_) {
    contig_ = record.contig();
    for (std::vector<Last>& haplotypes : samples_) haplotypes.clear();
  }
  try {
    vcf_.genotypes(record, genotypes_);
  } catch (const Error&) {
    return samples_.clear();  // the scores do not depend on genotypes
  }
  bool any = false;
  for (size_t sample = 0; sample < samples_.size(); ++sample) any |= add_sample(record, sample);
  if (any) ++count_;
}

// A genotype with equal alleles, also a haploid one, speaks of every haplotype.
bool NeighbourCount::add_sample(const VcfRecord& record, size_t sample) {
  const std::span<const int32_t> all(genotypes_.alleles);
  const size_t begin = sample * genotypes_.ploidy;
  size_t ploidy = 0;
  while (ploidy < genotypes_.ploidy && all[begin + ploidy] != kNoAllele) ++ploidy;
  const GenotypePhase phase = genotype_phase(
      all.subspan(begin, ploidy), std::span<const uint8_t>(genotypes_.phased).subspan(begin, ploidy),
      genotypes_.phase_sets.empty() ? "" : genotypes_.phase_sets[sample]);
  std::vector<Last>& haplotypes = samples_[sample];
  if (haplotypes.size() < ploidy) haplotypes.resize(ploidy, haplotypes.empty() ? Last() : haplotypes.front());
  bool any = false;
  for (size_t i = 0; i < (phase.kind == GenotypePhase::with_all ? haplotypes.size() : ploidy); ++i) {
    const int32_t allele = ploidy == 0 ? 0 : all[begin + std::min(i, ploidy - 1)];
    if (allele <= 0 || static_cast<size_t>(allele) > record.alts().size()) continue;
    const std::string& alt = record.alts()[static_cast<size_t>(allele) - 1];
    if (const auto changed = changed_bases(record.pos(), record.ref(), alt))
      any |= add_allele(*changed, phase, haplotypes[i]);
  }
  return any;
}

bool NeighbourCount::add_allele(const ChangedBases& changed, const GenotypePhase& phase, Last& last) const {
  const int64_t between = changed.begin - last.end;
  const bool joins = last.any && between >= 0 && between <= kMostBases && phase.in_phase(last.phase);
  // What is in phase with everything says nothing of the haplotype that a neighbour before it is on.
  const bool keeps_phase = joins && phase.kind == GenotypePhase::with_all;
  last = {changed.end, keeps_phase ? last.phase : phase, true};
  return joins;
}

}  // namespace carbon
