// Counts records whose alleles lie on one haplotype with those of a record a few bases before. They are one
// change of the sequence, but `carbon vep` scores each alone.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/formats/haplotype.hpp"
#include "src/formats/vcf.hpp"

namespace carbon {

class NeighbourCount {
 public:
  /// Counts nothing in a file without samples or with many, because reading their genotypes would take long,
  /// and in one where carbon +haplotypes has joined neighbours.
  explicit NeighbourCount(const VcfReader& vcf);

  /// Takes the next record of the file. Genotypes that cannot be read count for nothing.
  void add(const VcfRecord& record);
  uint64_t count() const { return count_; }

 private:
  /// The last allele of a haplotype that changes bases.
  struct Last {
    int64_t end = 0;
    GenotypePhase phase;
    bool any = false;
  };

  bool add_sample(const VcfRecord& record, size_t sample);
  bool add_allele(const ChangedBases& changed, const GenotypePhase& phase, Last& last) const;

  const VcfReader& vcf_;
  std::vector<std::vector<Last>> samples_;  // by sample and haplotype; empty if nothing is counted
  Genotypes genotypes_;
  std::string contig_;
  uint64_t count_ = 0;
};

}  // namespace carbon
