// The section of a VCF or BCF, or of a table of vep: reads it twice, and puts its figures and tables
// together.

#include <algorithm>
#include <cmath>

#include "src/report/sections/agreement.hpp"
#include "src/report/sections/distributions.hpp"
#include "src/report/sections/labels.hpp"
#include "src/report/sections/ranking.hpp"
#include "src/report/sections/score_figures.hpp"
#include "src/report/sections/sections.hpp"
#include "src/report/sections/variant_counts.hpp"
#include "src/report/sources/input.hpp"
#include "src/report/sources/variants.hpp"

namespace carbon {
namespace {

// What labels say of the scores of each tag.
class Labels {
 public:
  explicit Labels(size_t tags) : scores_(tags) {}

  void add(const VariantRecord& record) {
    for (size_t alt = 0; alt < record.labels.size(); ++alt)
      for (size_t t = 0; t < scores_.size(); ++t) add(record.labels[alt], record.scores[t][alt], scores_[t]);
  }
  const LabelledScores& of(size_t tag) const { return scores_[tag]; }

 private:
  static void add(LabelJudge::Verdict verdict, float score, LabelledScores& out) {
    if (std::isnan(score)) {
      ++out.missing_score;
    } else if (verdict == LabelJudge::Verdict::missing) {
      ++out.missing_label;
    } else if (verdict == LabelJudge::Verdict::other) {
      ++out.other_label;
    } else {
      out.scores.push_back(score);
      out.positive.push_back(verdict == LabelJudge::Verdict::positive);
    }
  }

  std::vector<LabelledScores> scores_;
};

class VariantSection {
 public:
  VariantSection(const std::string& name, const std::string& path, const ReportOptions& options)
      : name_(name),
        path_(path),
        sample_(file_name(path)),
        options_(options),
        source_(open_variants(path, options)),
        layout_(source_->layout()),
        counts_(layout_),
        distributions_(layout_),
        ranking_(layout_, options),
        labels_(layout_.tags.size()) {}

  Section make() {
    read();
    Section out;
    out.name = name_;
    out.title = "Scores of alleles in " + sample_;
    out.paragraphs.push_back(counts_.sentences());
    if (!layout_.unread_consequences.empty())
      out.paragraphs.push_back("The header does not say which fields " + layout_.unread_consequences +
                               " has, so no consequences are shown.");
    else if (layout_.consequence_tag.empty() && !layout_.table)
      out.paragraphs.push_back(
          "No consequences are shown: the header defines none of BCSQ (bcftools csq), CSQ (VEP) and ANN "
          "(SnpEff).");
    out.provenance = layout_.provenance;
    add_distributions(out);
    counts_.add_flag_figures(name_, sample_, out);
    if (!options_.label.empty())
      for (size_t t = 0; t < layout_.tags.size(); ++t)
        add_label_figures(name_ + parts_[t], layout_.tags[t].name, labels_.of(t), options_, out);
    if (both_ > 0) agreement_.finish(name_ + "_agreement", layout_.tags[0].name, layout_.tags[1].name, out);
    if (!ranking_.empty()) out.parts.emplace_back(ranking_.table());
    return out;
  }

 private:
  void read() {
    std::vector<std::string> names;
    for (const ScoreTag& tag : layout_.tags) names.push_back(tag.name);
    parts_ = figure_parts(names);
    VariantRecord record;
    while (source_->next(record)) {
      counts_.add(record);
      distributions_.add(record);
      ranking_.add(record);
      labels_.add(record);
      for (size_t alt = 0; layout_.tags.size() > 1 && alt < record.alts.size(); ++alt) {
        const float a = record.scores[0][alt], b = record.scores[1][alt];
        if (std::isnan(a) || std::isnan(b)) continue;
        agreement_.add(static_cast<double>(a), static_cast<double>(b));
        ++both_;
      }
    }
    distributions_.end_first();
    source_.reset();
    ReportOptions without_label = options_;
    without_label.label.clear();
    const auto again = open_variants(path_, without_label);
    while (again->next(record)) distributions_.add_again(record);
  }

  void add_distributions(Section& out) const {
    constexpr struct {
      Grouping grouping;
      const char* part;
    } kinds[] = {{Grouping::type, "_by_type"},
                 {Grouping::filter, "_by_filter"},
                 {Grouping::consequence, "_by_consequence"}};
    for (size_t t = 0; t < layout_.tags.size(); ++t) {
      const ScoreTag& tag = layout_.tags[t];
      const std::vector<ScoreGroup>& all = distributions_.groups(t, Grouping::all);
      if (all.empty() || all[0].scores.count() == 0) continue;
      const ScoreBins& bins = distributions_.bins(t);
      out.parts.emplace_back(score_histogram({name_ + parts_[t] + "_scores", sample_, tag}, all[0], bins));
      std::vector<NamedGroups> rows = {{"", &all}};
      for (const auto& [grouping, part] : kinds) {
        if (!distributions_.has(grouping)) continue;
        const std::string by = words_of(grouping);
        const std::vector<ScoreGroup>& groups = distributions_.groups(t, grouping);
        rows.push_back({by, &groups});
        // A single row would be the histogram of all again.
        if (std::count_if(groups.begin(), groups.end(), [](const auto& g) { return g.scores.count() > 0; }) >
            1)
          out.parts.emplace_back(score_rows({name_ + parts_[t] + part, sample_, tag}, by, groups, bins));
      }
      out.parts.emplace_back(score_table(tag, rows));
    }
  }

  std::string words_of(Grouping grouping) const {
    if (grouping == Grouping::filter) return "FILTER";
    return grouping == Grouping::type ? "type" : "consequence (" + layout_.consequence_tag + ")";
  }

  std::string name_, path_, sample_;
  const ReportOptions& options_;
  std::unique_ptr<VariantSource> source_;  // of the first reading
  VariantLayout layout_;
  std::vector<std::string> parts_;  // of the names of figures, for each tag
  VariantCounts counts_;
  VariantDistributions distributions_;
  VariantRanking ranking_;
  Labels labels_;
  AgreementFigures agreement_;  // of the first two tags
  uint64_t both_ = 0;           // alleles that have both
};

}  // namespace

Section variant_section(const std::string& name, const std::string& path, const ReportOptions& options) {
  return VariantSection(name, path, options).make();
}

}  // namespace carbon
