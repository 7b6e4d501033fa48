// The definition of the best set of genes of a strand, by looking at every gene that there may be
// (docs/recipes.md, "Genes"). For sequences of some dozens of bases.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/annotate/decoder.hpp"

namespace carbon::reference {

struct ScoredGene {
  DecodedGene gene;
  int64_t score = 0;
};

class GeneSets {
 public:
  /// `letters` in reading direction, with the score of each base.
  GeneSets(std::string letters, std::vector<int64_t> odds, const GeneRules& rules);

  /// Every gene that the rules allow, in the order of the last base. If there are more than `most`, these are
  /// not all.
  const std::vector<ScoredGene>& genes() const { return genes_; }
  bool complete() const { return genes_.size() < kMost; }
  /// The highest total of a set of them.
  int64_t best() const;
  /// Whether genes, in the order of their first base, may be called together.
  bool allowed(const std::vector<DecodedGene>& set) const;
  /// What a set scores in which every gene is one of genes(); throws std::logic_error for another one.
  int64_t total(const std::vector<DecodedGene>& set) const;

  static constexpr size_t kMost = 300000;

 private:
  bool in_gap(size_t at) const { return gap_[at]; }
  bool begins_at_edge(size_t at) const { return !gap_[at] && (at == 0 || gap_[at - 1]); }
  bool ends_at_edge(size_t at) const { return !gap_[at] && (at + 1 == letters_.size() || gap_[at + 1]); }
  bool is_intron(size_t begin, size_t end) const;
  bool begins_on_stop(const DecodedGene& gene, const DecodedGene& before) const;
  void extend(const ScoredGene& gene, const std::string& coding, size_t at);
  void record(const ScoredGene& gene);
  int64_t odds(int64_t begin, int64_t end) const;

  std::string letters_;
  std::vector<int64_t> odds_;
  GeneRules rules_;
  std::vector<bool> gap_;
  std::vector<std::string> starts_, stops_;
  std::vector<ScoredGene> genes_;
};

/// The stop codons of a genetic code.
std::vector<std::string> stop_codons(int code);

}  // namespace carbon::reference
