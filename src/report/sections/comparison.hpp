// Scores beside each other. How far two scores of the same alleles agree: scatter and Bland-Altman plot.
// Scores of several files: the alleles that two files share as a scatter, and the ROC curves of all tags in
// one figure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/report/drawing/document.hpp"
#include "src/report/sections/labels.hpp"
#include "src/report/sources/variants.hpp"

namespace carbon {

/// Two scores of one allele.
struct BothScores {
  double a, b;
};

/// An allele that is drawn as a dot.
struct NamedAllele {
  std::string name;
  LabelJudge::Verdict label;
};

/// Keeps every pair, because the rank correlation needs them all: 16 bytes each, and about 30 more in
/// finish().
class AgreementFigures {
 public:
  /// Two scores of one allele, neither of them NaN. Infinite ones are counted and left out.
  /// `name` says what the allele is, for those who point at it; it and the class are kept while dots are
  /// drawn.
  void add(double a, double b, const std::string& name = "",
           LabelJudge::Verdict label = LabelJudge::Verdict::missing);
  /// Adds two figures and a table of the measures, whose values are those of +concord and scipy; without two
  /// pairs a paragraph that says so. `name` begins the names of the figures. With the names of classes, these
  /// have colours.
  void finish(const std::string& name, const ScoreTag& a, const ScoreTag& b, Section& section,
              const ClassNames* classes = nullptr);

 private:
  std::vector<BothScores> pairs_;
  std::vector<NamedAllele> named_;  // these, while there are few
  uint64_t infinite_ = 0;
};

/// The ROC curves of several scores in one figure, at least two of them. The first eight are drawn. `label`
/// is the expression of the label.
Figure roc_overlay(const std::string& name, const std::string& label, const std::vector<RocCurve>& curves);

/// The alleles that the first two files share, by the first score of each.
class VariantComparison {
 public:
  /// The next file with alleles, as it is called on the page. Then come its header, its records and curves.
  void next_file(const std::string& name) { files_.push_back({name, {}, {}, 0}); }
  void begin(const VariantLayout& layout);
  /// Keeps 16 bytes for each allele of the first file with a score.
  void add(const VariantRecord& record);
  void add(RocCurve curve);
  /// Adds the figures of all files to their section, whose name begins theirs. `label` may be "".
  void finish(const std::string& label, Section& section);

 private:
  struct Allele {
    uint64_t key;  // of contig, position, REF and ALT
    float score;
    LabelJudge::Verdict label;
    bool paired;
  };
  struct File {
    std::string name;
    ScoreTag tag;
    ClassNames classes;
    uint64_t scored = 0;
  };

  void pair(const VariantRecord& record, size_t alt, float score, LabelJudge::Verdict label);

  std::vector<File> files_;
  std::vector<Allele> first_;  // of the first file; sorted by key, when the second begins
  AgreementFigures shared_;
  uint64_t pairs_ = 0;
  std::vector<RocCurve> curves_;
};

}  // namespace carbon
