// Scores of several files beside each other: their distributions on one axis, the alleles that two files
// share as a scatter, and the ROC curves of all tags in one figure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/report/drawing/document.hpp"
#include "src/report/sections/labels.hpp"
#include "src/report/sources/variants.hpp"

namespace carbon {

/// The ROC curves of several scores in one figure, at least two of them. The first eight are drawn. `label`
/// is the expression of the label.
Figure roc_overlay(const std::string& name, const std::string& label, const std::vector<RocCurve>& curves);

class VariantComparison {
 public:
  /// A file whose records follow. Its first score is compared.
  void begin(const std::string& file, const VariantLayout& layout);
  /// Keeps 16 bytes for each allele with a score.
  void add(const VariantRecord& record);
  void add(RocCurve curve);
  /// `name` is that of the section.
  Section section(const std::string& name, const std::string& label);

 private:
  struct Allele {
    uint64_t key;  // of contig, position, REF and ALT
    float score;
  };
  struct File {
    std::string name;
    ScoreTag tag;
    uint64_t total = 0;  // alleles, with and without a score
    std::vector<Allele> alleles;
    std::vector<std::string> names;  // of these alleles, while there are few
  };

  std::string list_of_files() const;
  std::string score_name(const File& file) const;
  bool one_tag() const;
  void add_distributions(const std::string& name, Section& section) const;
  void add_scatter(const std::string& name, Section& section);

  std::vector<File> files_;
  std::vector<RocCurve> curves_;
};

}  // namespace carbon
