// Scores along genes: a figure for each of the genes with the lowest scores, or the highest
// where these are the damaging ones, with its exons.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "src/report/drawing/chart.hpp"
#include "src/report/drawing/document.hpp"
#include "src/report/sources/genes.hpp"
#include "src/report/sources/options.hpp"
#include "src/report/sources/variants.hpp"

namespace carbon {

class ExonScale;

/// An allele with a score, in 24 bytes.
struct GeneAllele {
  int64_t pos;
  float score;
  uint32_t contig : 30;          // among those of the file
  uint32_t verdict : 2;          // a LabelJudge::Verdict
  uint32_t change, consequence;  // "G>T" and its most severe consequence, in the words of the tracks
};

/// Texts of which many alleles have the same, each once.
class SharedWords {
 public:
  SharedWords() = default;
  SharedWords(const SharedWords&) = delete;
  SharedWords& operator=(const SharedWords&) = delete;

  /// The number of a text: 0, that of "", for a new one after twenty thousand.
  uint32_t number(std::string text);
  const std::string& operator[](uint32_t number) const { return *words_[number]; }

 private:
  static constexpr size_t kMost = 20'000;
  std::unordered_map<std::string, uint32_t> numbers_ = {{"", 0}};
  std::vector<const std::string*> words_ = {&numbers_.begin()->first};  // keys stay where they are
};

class GeneTracks {
 public:
  static constexpr size_t kMostGenes = 6;

  GeneTracks(const VariantLayout& layout, const ReportOptions& options);

  /// Keeps 24 bytes for each allele with a score of the first tag, if options.genes names a file.
  void add(const VariantRecord& record);
  /// Reads the genes, twice, and adds figures, or a paragraph that says why there are none. `name` begins the
  /// names of the figures; `path` is the file of the variants. Throws Error for a malformed file of genes.
  void finish(const std::string& name, const std::string& path, Section& section);

 private:
  struct Place {
    uint32_t contig;
    Gene gene;
  };

  uint32_t contig_number(const std::string& name);
  std::vector<GeneArea> first_places() const;
  std::vector<Place> first_genes(const GeneFile& file, const std::vector<GeneArea>& places) const;
  void read_exons(std::vector<Place>& genes) const;
  Figure figure(const std::string& name, const Place& place) const;
  Chart chart(const std::string& name, const Place& place, const std::vector<GeneAllele>& alleles,
              const ExonScale* scale) const;

  const VariantLayout& layout_;
  const ReportOptions& options_;
  std::vector<std::string> contigs_;
  std::vector<GeneAllele> alleles_;
  SharedWords words_;
};

}  // namespace carbon
