// What a section of variants is made of: parts that see each record, and then add what they have to say of
// all.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/report/drawing/chart.hpp"
#include "src/report/sources/bases.hpp"
#include "src/report/sources/options.hpp"
#include "src/report/sources/summaries.hpp"
#include "src/report/sources/variants.hpp"
#include "src/statistics/curves.hpp"

namespace carbon {

/// A file whose section is made; outlives the parts.
struct VariantFile {
  std::string name, path;  // the beginning of the names of figures
  const VariantLayout& layout;
  const ReportOptions& options;
};

class VariantPart {
 public:
  virtual ~VariantPart() = default;
  virtual void add(const VariantRecord& record) = 0;
  /// After the last record. Throws Error for a malformed file beside the variants.
  virtual void finish(Section& section) = 0;
};

/// A table of the alleles with the lowest scores, or the highest where these are the damaging ones, with the
/// genes and the probabilities of bases around them.
std::unique_ptr<VariantPart> variant_ranking(const VariantFile& file);
/// Figures of scores along the genes that have these alleles.
std::unique_ptr<VariantPart> gene_tracks(const VariantFile& file);

struct BasePlace {
  std::string contig;
  int64_t pos = 0;  // from 0
};

/// The bases around each place, `flank` on each side, from a table of score -O tsv or scan; a piece without
/// bases where it has no values. Positions before the first base of a contig count down from 0. Reads the
/// table once, or by its index, and keeps what the places need. Throws Error for another file.
std::vector<TablePiece> read_surroundings(const std::string& table, const std::vector<BasePlace>& places,
                                          size_t flank);

/// An SVG of 40 pixels' height of the `flank` bases on each side of the middle one, or of all if there are
/// not so many, with a mark under the middle one; "" without values.
std::string small_logo(const TablePiece& around, size_t flank);

// ---- A label

/// The alleles that have both a score and a class, in the order of the file, which the bootstrap samples
/// depend on; and how many do not. Takes five bytes for each allele, and drawing twelve
/// more.
struct LabelledScores {
  std::vector<float> scores = {};  // finite
  std::vector<bool> positive = {};
  uint64_t missing_score = 0, missing_label = 0, other_label = 0;
  bool low = false;       // by the header, low scores are those of positive alleles
  bool high = false;      // by the header, high ones are
  std::string unit = {};  // of the scores
  ClassNames names = {};
};

/// The class of an allele; `missing` without a label.
inline LabelJudge::Verdict verdict_of(const VariantRecord& record, size_t alt) {
  return record.labels.empty() ? LabelJudge::Verdict::missing : record.labels[alt];
}

/// The colours of the two classes, and of what is in neither.
inline constexpr std::array<std::string_view, 3> kClassColours = {theme::kSeries[1], theme::kSeries[0],
                                                                  theme::kReference};
/// Which of these an allele has.
inline size_t class_of(LabelJudge::Verdict verdict) {
  return std::min<size_t>(static_cast<size_t>(verdict), 2);
}

/// The table of how well a score separates a label, with counts below the measures.
Table measure_table(const std::string& score, const std::string& label,
                    const std::vector<NamedValue<SeparationMetric>>& measures,
                    const std::vector<NamedValue<uint64_t>>& counts);

/// An axis of these columns, which are areas: from 0.5, what no score has by chance alone, or from 0, to 1.
Axis auroc_axis(const Chart& chart, std::initializer_list<size_t> columns);

/// How the label and the intervals of a file came about. `score` is "score" or "scores".
void add_label_provenance(const JudgedLabel& label, const char* score, Section& section);

/// A curve as it is drawn.
struct RocCurve {
  std::string name;  // of the score
  std::vector<Point> line;
  Rates rates;  // true positive rates
  ClassMetrics metrics;
  CurveIntervals intervals;
  ClassNames names;

  double auroc() const { return metrics.values[0]; }
  std::string positives() const { return plural(metrics.positive, names.positive + " allele"); }
  std::string negatives() const { return plural(metrics.negative, names.negative + " allele"); }
};

/// Adds three figures, and tables of thresholds and of the areas, whose values are those of +auroc; with one
/// class alone a paragraph that says so, and nothing is returned. `name` begins the names of the figures,
/// `tag` is the score's.
std::optional<RocCurve> add_label_figures(const std::string& name, const std::string& tag,
                                          const LabelledScores& scores, const ReportOptions& options,
                                          Section& section);

// ---- Scores beside each other

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
  /// Two scores of one allele, both finite. `name` says what the allele is, for those who point at it; it and
  /// the class are kept while dots are drawn.
  void add(double a, double b, const std::string& name = "",
           LabelJudge::Verdict label = LabelJudge::Verdict::missing);
  uint64_t pairs() const { return pairs_.size(); }
  /// Adds two figures and a table of the measures, whose values are those of +concord and scipy; without two
  /// pairs a paragraph that says so. `name` begins the names of the figures. With the names of classes, these
  /// have colours.
  void finish(const std::string& name, const ScoreTag& a, const ScoreTag& b, Section& section,
              const ClassNames* classes = nullptr);

 private:
  std::vector<BothScores> pairs_;
  std::vector<NamedAllele> named_;  // these, while there are few
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

  void pair(const VariantRecord& record, size_t alt, float score);

  std::vector<File> files_;
  std::vector<Allele> first_;  // of the first file; sorted by key, when the second begins
  AgreementFigures shared_;
  std::vector<RocCurve> curves_;
};

}  // namespace carbon
