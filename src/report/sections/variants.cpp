// The section of a VCF or BCF, or of a table of vep: reads it, and puts its figures and tables together.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/error.hpp"
#include "src/report/drawing/chart.hpp"
#include "src/report/drawing/cloud.hpp"
#include "src/report/drawing/document.hpp"
#include "src/report/sections/comparison.hpp"
#include "src/report/sections/distributions.hpp"
#include "src/report/sections/gene_track.hpp"
#include "src/report/sections/labels.hpp"
#include "src/report/sections/ranking.hpp"
#include "src/report/sections/sections.hpp"
#include "src/report/sources/input.hpp"
#include "src/report/sources/variants.hpp"

namespace carbon {
namespace {

constexpr std::string_view kTypes[] = {"SNV", "MNV", "INS", "DEL", "complex", "other"};
constexpr size_t kClassName = 40;  // letters of the name of a class
constexpr size_t kFlags = 30;      // different words that are kept apart
constexpr const char* kFurther = "further flags";

// In the order of carbon vep.
constexpr std::pair<std::string_view, std::string_view> kMeanings[] = {
    {"no_contig", "The reference sequences have no contig of this name."},
    {"edge", "The variant lies, wholly or partly, outside of the contig."},
    {"symbolic", "The allele is named instead of spelled out, and its bases are not exactly known."},
    {"star", "The allele is *, so a deletion of another record covers the place."},
    {"non_acgt", "The alleles, or the reference below them, have a letter other than A, C, G and T."},
    {"ref_mismatch", "REF is not what the reference sequence has at this place."},
    {"too_long", "An allele is too long for the window that the model reads."},
    {"multibase",
     "The recipe next-token, and tables of carbon scan, score changes of one base, and this is another one."},
    {"not_in_table", "The table of carbon scan that the scores were taken from does not have the SNV."},
};

size_t flag_order(const std::string& flag) {
  return static_cast<size_t>(std::find_if(std::begin(kMeanings), std::end(kMeanings),
                                          [&](const auto& m) { return m.first == flag; }) -
                             std::begin(kMeanings));
}

std::string meaning(const std::string& flag) {
  const size_t at = flag_order(flag);
  if (at < std::size(kMeanings)) return std::string(kMeanings[at].second);
  return flag == kFurther ? "More words, each of few alleles." : "This version of carbon has no such flag.";
}

using Flag = std::pair<std::string, uint64_t>;  // and how many alleles have it

std::vector<Flag> in_order(const std::map<std::string, uint64_t>& flags) {
  std::vector<Flag> out(flags.begin(), flags.end());
  std::stable_sort(out.begin(), out.end(),
                   [](const auto& a, const auto& b) { return flag_order(a.first) < flag_order(b.first); });
  return out;
}

// "3 ref_mismatch, 1 without a flag"
std::string list_of(const std::map<std::string, uint64_t>& flags) {
  std::string out, unflagged;
  for (const auto& [flag, count] : in_order(flags)) {
    if (flag.empty())
      unflagged = count_text(count) + " without a flag";
    else
      out += (out.empty() ? "" : ", ") + count_text(count) + " " + flag;
  }
  return out + (out.empty() || unflagged.empty() ? "" : ", ") + unflagged;
}

Figure draw_flags(const std::string& name, const std::string& tag, const std::string& sample,
                  const std::vector<Flag>& flags) {
  const std::vector<ChartColumn> columns = columns_of<Flag>(
      flags, {{"Flag", "", &Flag::first},
              {"Alleles", "Alternative alleles with this flag", &Flag::second, ChartColumn::count}});
  uint64_t all = 0;
  for (const auto& [flag, count] : flags) all += count;
  const auto largest = std::max_element(flags.begin(), flags.end(),
                                        [](const auto& a, const auto& b) { return a.second < b.second; });
  return figure_of({.name = name,
                    .title = "Why scores are missing: " + tag,
                    .x = count_axis("Alleles", 1.1 * static_cast<double>(largest->second)),
                    .y = category_axis("", columns[0].texts),
                    .columns = columns,
                    .series = {{.mark = Series::bars, .name = "alleles", .value = 1}},
                    .what = "The alternative alleles with each flag of " + tag + ", " + count_text(all) +
                            " together. A flag says why an allele has no score.",
                    .words = "The most frequent flag is " + largest->first + " with " +
                             plural(largest->second, "allele") + ".",
                    .sample = sample});
}

Table explain(const std::string& tag, const std::vector<Flag>& flags) {
  return table_of<Flag>(
      "What the flags of " + tag + " mean", flags,
      {{"Flag", "", &Flag::first},
       {"Alleles", "Alternative alleles with this flag", &Flag::second, ChartColumn::grouped},
       {"Meaning", "", [](const Flag& one) { return meaning(one.first); }}});
}

// How many records and alleles a file has, how many of them have scores, and why others have none.
class VariantCounts {
 public:
  explicit VariantCounts(const VariantLayout& layout);

  void add(const VariantRecord& record);

  uint64_t records() const { return records_; }
  uint64_t alleles() const { return alleles_; }
  // Sentences about records and alleles, their types, and for each tag how many have a score.
  std::string sentences() const;
  // For each flag tag that occurs: bars of its reasons, and a table that says what they mean. `sample` is
  // the name of the file.
  void add_flag_figures(const std::string& name, const std::string& sample, Section& section) const;

 private:
  using ByFlag = std::map<std::string, uint64_t>;
  static void count(const std::string& flag, ByFlag& flags);

  const VariantLayout& layout_;
  uint64_t records_ = 0, without_alts_ = 0, alleles_ = 0;
  std::vector<uint64_t> types_;   // alleles, in the order of kTypes
  std::vector<uint64_t> scored_;  // alleles, for each tag
  std::vector<ByFlag> missing_;   // for each tag, alleles without a score; "" for no flag
  std::vector<ByFlag> flags_;     // for each flag tag
};

VariantCounts::VariantCounts(const VariantLayout& layout)
    : layout_(layout),
      types_(std::size(kTypes)),
      scored_(layout.tags.size()),
      missing_(layout.tags.size()),
      flags_(layout.flag_tags.size()) {}

// Damaged files could have any number of words.
void VariantCounts::count(const std::string& flag, ByFlag& flags) {
  const std::string word = cut_text(flag, 40);
  if (flags.size() >= kFlags && !flags.contains(word))
    ++flags[kFurther];
  else
    ++flags[word];
}

void VariantCounts::add(const VariantRecord& record) {
  ++records_;
  if (record.alts.empty()) ++without_alts_;
  alleles_ += record.alts.size();
  for (size_t alt = 0; alt < record.alts.size(); ++alt) {
    const std::string_view type = record.types[alt];
    ++types_[static_cast<size_t>(std::find(std::begin(kTypes), std::end(kTypes) - 1, type) -
                                 std::begin(kTypes))];
    for (size_t f = 0; f < flags_.size(); ++f)
      if (!record.flags[f][alt].empty()) count(record.flags[f][alt], flags_[f]);
    for (size_t t = 0; t < scored_.size(); ++t) {
      if (!std::isnan(record.scores[t][alt])) {
        ++scored_[t];
        continue;
      }
      const size_t flag_tag = layout_.tags[t].flag_tag;
      count(flag_tag == kNoFlagTag ? "" : record.flags[flag_tag][alt], missing_[t]);
    }
  }
}

std::string VariantCounts::sentences() const {
  const std::string records = layout_.table ? "line" : "record";
  std::string out =
      "The file has " + plural(records_, records) + " with " + plural(alleles_, "alternative allele");
  std::string types;
  for (size_t i = 0; i < types_.size(); ++i)
    if (types_[i] > 0)
      types += (types.empty() ? ": " : ", ") + count_text(types_[i]) + " " + std::string(kTypes[i]);
  out += types + ".";
  if (without_alts_ > 0)
    out += " " + plural(without_alts_, records) + (without_alts_ == 1 ? " has" : " have") +
           " no alternative allele.";
  for (size_t t = 0; t < scored_.size(); ++t) {
    const uint64_t missing = alleles_ - scored_[t];
    out += " " + layout_.tags[t].name + " has a score for " + plural(scored_[t], "allele");
    if (missing > 0)
      out +=
          "; " + count_text(missing) + (missing == 1 ? " has" : " have") + " none: " + list_of(missing_[t]);
    out += ".";
  }
  return out;
}

void VariantCounts::add_flag_figures(const std::string& name, const std::string& sample,
                                     Section& section) const {
  const std::vector<std::string> parts = figure_parts(layout_.flag_tags);
  for (size_t f = 0; f < flags_.size(); ++f) {
    if (flags_[f].empty()) continue;
    const auto flags = in_order(flags_[f]);
    section.parts.emplace_back(draw_flags(name + parts[f] + "_reasons", layout_.flag_tags[f], sample, flags));
    section.parts.emplace_back(explain(layout_.flag_tags[f], flags));
  }
}

// What labels say of the scores of each tag.
class Labels {
 public:
  explicit Labels(const VariantLayout& layout) : scores_(layout.tags.size()) {
    for (size_t t = 0; t < scores_.size(); ++t) {
      scores_[t].low = layout.tags[t].low;
      scores_[t].high = layout.tags[t].high;
      scores_[t].unit = layout.tags[t].unit;
      scores_[t].names = {cut_text(layout.classes.positive, kClassName),
                          cut_text(layout.classes.negative, kClassName)};
    }
  }

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
  VariantSection(const std::string& name, const std::string& path, const ReportOptions& options,
                 VariantComparison* comparison)
      : comparison_(comparison),
        name_(name),
        sample_(file_name(path)),
        options_(options),
        source_(open_variants(path, options)),
        layout_(source_->layout()),
        counts_(layout_),
        distributions_(layout_),
        ranking_(layout_, options),
        labels_(layout_),
        path_(path),
        genes_(layout_, options) {}

  Section make() {
    read();
    Section out = begin_section(name_, path_, "scores of alleles", {});
    if (options_.files.size() > 1) out.sample = distributions_.sample(0, layout_.tags[0]);
    out.paragraphs.push_back(counts_.sentences());
    if (std::string words = source_->label_words(); !words.empty()) {
      options_.log->message("report", words);
      words[0] = 'W';
      out.paragraphs.push_back(words + ".");
    }
    if (!layout_.unread_consequences.empty())
      out.paragraphs.push_back("The header does not say which fields " + layout_.unread_consequences +
                               " has, so no consequences are shown.");
    else if (layout_.consequence_tag.empty() && !layout_.table)
      out.paragraphs.push_back(
          "No consequences are shown: the header defines none of BCSQ (bcftools csq), CSQ (VEP) and ANN "
          "(SnpEff).");
    out.provenance = layout_.provenance;
    if (layout_.assembly)
      out.provenance.emplace_back(
          "Assembly of links",
          std::string(layout_.assembly->name) + (options_.assembly.empty() ? ", as the header says" : ""));
    out.models = layout_.models;
    // First, because it is what most readers look for.
    if (!ranking_.empty()) out.parts.emplace_back(ranking_.table());
    genes_.finish(name_, path_, out);
    add_distributions(out);
    add_statistics(out);
    counts_.add_flag_figures(name_, sample_, out);
    if (!options_.label.empty()) add_labels(out);
    if (both_ > 0) add_agreement(out);
    return out;
  }

 private:
  void read() {
    const auto known = [](const ScoreTag& tag) { return tag.low || tag.high; };
    if (options_.negate && std::all_of(layout_.tags.begin(), layout_.tags.end(), known))
      throw Error("report",
                  (layout_.tags[0].low ? "low scores of " : "high scores of ") + layout_.tags[0].name +
                      " are those of damaging alleles, as the header says, and are treated so "
                      "already",
                  {"leave out {--negate}, which is for other tags"});
    std::vector<std::string> names;
    for (const ScoreTag& tag : layout_.tags) names.push_back(tag.name);
    parts_ = figure_parts(names);
    if (comparison_) comparison_->begin(layout_);
    VariantRecord record;
    while (source_->next(record)) {
      counts_.add(record);
      distributions_.add(record);
      ranking_.add(record);
      labels_.add(record);
      genes_.add(record);
      if (comparison_) comparison_->add(record);
      for (size_t alt = 0; layout_.tags.size() > 1 && alt < record.alts.size(); ++alt) {
        const float a = record.scores[0][alt], b = record.scores[1][alt];
        if (std::isnan(a) || std::isnan(b)) continue;
        agreement_.add(static_cast<double>(a), static_cast<double>(b),
                       both_ < Cloud::kMostDots ? allele_name(record, alt) : "",
                       record.labels.empty() ? LabelJudge::Verdict::missing : record.labels[alt]);
        ++both_;
      }
    }
    distributions_.finish();
  }

  // Of the first tag.
  void add_statistics(Section& out) const {
    const std::vector<ScoreGroup>& all = distributions_.groups(0, Grouping::all);
    const uint64_t scored = all.empty() ? 0 : all[0].scores.count;
    out.statistics = {
        {"alleles", "Alleles", "Alternative alleles", static_cast<double>(counts_.alleles())},
        {"scored", "Scored", "Alleles with " + layout_.tags[0].name, static_cast<double>(scored)}};
    if (scored == 0) return;
    out.statistics.push_back(
        {"median", "Median", "Median of " + layout_.tags[0].name, all[0].scores.quartiles[1]});
  }

  // With several tags their curves are drawn together, before those of each.
  void add_labels(Section& out) {
    const size_t before = out.parts.size();
    std::vector<RocCurve> curves;
    for (size_t t = 0; t < layout_.tags.size(); ++t)
      if (auto curve =
              add_label_figures(name_ + parts_[t], layout_.tags[t].name, labels_.of(t), options_, out))
        curves.push_back(std::move(*curve));
    if (curves.size() > 1)
      out.parts.insert(out.parts.begin() + static_cast<ptrdiff_t>(before),
                       roc_overlay(name_ + "_roc", options_.label, curves));
    for (const RocCurve& curve : curves)
      out.statistics.push_back({"auroc " + curve.name, "AUROC of " + curve.name,
                                "AUROC of " + curve.name + " for " + options_.label, curve.auroc});
    if (comparison_)
      for (RocCurve& curve : curves) comparison_->add(std::move(curve));
  }

  void add_agreement(Section& out) {
    const ScoreTag &a = layout_.tags[0], &b = layout_.tags[1];
    agreement_.finish(name_ + "_agreement", a, b, out, options_.label.empty() ? nullptr : &layout_.classes);
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
      if (all.empty() || all[0].scores.count == 0) continue;
      const ScoreBins& bins = distributions_.bins(t);
      out.parts.emplace_back(score_histogram({name_ + parts_[t] + "_scores", sample_, tag}, all[0], bins));
      std::vector<NamedGroups> rows = {{"", &all}};
      for (const auto& [grouping, part] : kinds) {
        if (!distributions_.has(grouping)) continue;
        const std::string by = words_of(grouping);
        const std::vector<ScoreGroup>& groups = distributions_.groups(t, grouping);
        rows.push_back({by, &groups});
        // A single row would be the histogram of all again.
        if (std::count_if(groups.begin(), groups.end(), [](const auto& g) { return g.scores.count > 0; }) > 1)
          out.parts.emplace_back(score_rows({name_ + parts_[t] + part, sample_, tag}, by, groups, bins));
      }
      out.parts.emplace_back(score_table({"", sample_, tag}, rows));
    }
  }

  std::string words_of(Grouping grouping) const {
    if (grouping == Grouping::filter) return "FILTER";
    return grouping == Grouping::type ? "type" : "consequence (" + layout_.consequence_tag + ")";
  }

  VariantComparison* comparison_;
  std::string name_, sample_;
  const ReportOptions& options_;
  std::unique_ptr<VariantSource> source_;
  VariantLayout layout_;
  std::vector<std::string> parts_;  // of the names of figures, for each tag
  VariantCounts counts_;
  VariantDistributions distributions_;
  VariantRanking ranking_;
  Labels labels_;
  std::string path_;
  GeneTracks genes_;
  AgreementFigures agreement_;  // of the first two tags
  uint64_t both_ = 0;           // alleles that have both
};

}  // namespace

Section variant_section(const std::string& name, const std::string& path, const ReportOptions& options,
                        VariantComparison* comparison) {
  return VariantSection(name, path, options, comparison).make();
}

}  // namespace carbon
