// The section of a VCF or BCF, or of a table of vep: reads it, and puts its figures and tables together.

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <tuple>

#include "src/base/error.hpp"
#include "src/report/drawing/chart.hpp"
#include "src/report/sections/distributions.hpp"
#include "src/report/sections/sections.hpp"
#include "src/report/sections/variant_parts.hpp"
#include "src/report/sources/input.hpp"

namespace carbon {
namespace {

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

// "", no flag, comes last.
size_t flag_order(const std::string& flag) {
  if (flag.empty()) return std::size(kMeanings) + 1;
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
using ByFlag = std::map<std::string, uint64_t>;

std::vector<Flag> in_order(const ByFlag& flags) {
  std::vector<Flag> out(flags.begin(), flags.end());
  std::stable_sort(out.begin(), out.end(),
                   [](const auto& a, const auto& b) { return flag_order(a.first) < flag_order(b.first); });
  return out;
}

// "3 ref_mismatch, 1 without a flag"
std::string list_of(const ByFlag& flags) {
  return joined(in_order(flags), ", ", [](const Flag& one) {
    return count_text(one.second) + " " + (one.first.empty() ? "without a flag" : one.first);
  });
}

std::vector<Field<Flag>> flag_fields(ChartColumn::Form form) {
  return {{"Flag", "", &Flag::first}, {"Alleles", "Alternative alleles with this flag", &Flag::second, form}};
}

Figure draw_flags(const std::string& name, const std::string& tag, const std::string& sample,
                  const std::vector<Flag>& flags) {
  const std::vector<ChartColumn> columns = columns_of(flags, flag_fields(ChartColumn::count));
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
  std::vector<Field<Flag>> fields = flag_fields(ChartColumn::grouped);
  fields.push_back({"Meaning", "", [](const Flag& one) { return meaning(one.first); }});
  return table_of("What the flags of " + tag + " mean", flags, fields);
}

// Damaged files could have any number of words.
void count(const std::string& flag, ByFlag& flags) {
  const std::string word = cut_text(flag, 40);
  ++flags[flags.size() >= kFlags && !flags.contains(word) ? kFurther : word];
}

// For each flag tag that occurs: bars of its reasons, and a table that says what they mean.
class FlagFigures final : public VariantPart {
 public:
  explicit FlagFigures(const VariantFile& file) : file_(file), flags_(file.layout.flag_tags.size()) {}

  void add(const VariantRecord& record) override {
    for (size_t f = 0; f < flags_.size(); ++f)
      for (const std::string& flag : record.flags[f])
        if (!flag.empty()) count(flag, flags_[f]);
  }

  void finish(Section& section) override {
    const std::vector<std::string>& tags = file_.layout.flag_tags;
    const std::vector<std::string> parts = figure_parts(tags);
    for (size_t f = 0; f < flags_.size(); ++f) {
      if (flags_[f].empty()) continue;
      const std::vector<Flag> flags = in_order(flags_[f]);
      section.parts.emplace_back(
          draw_flags(file_.name + parts[f] + "_reasons", tags[f], file_name(file_.path), flags));
      section.parts.emplace_back(explain(tags[f], flags));
    }
  }

 private:
  const VariantFile& file_;
  std::vector<ByFlag> flags_;  // for each flag tag
};

// A paragraph that says how many records and alleles a file has, of which types, how many of them have
// scores, and why others have none. Of each tag a histogram of all scores, one of each group, and a table of
// both; of the first also statistics.
class DistributionFigures final : public VariantPart {
 public:
  explicit DistributionFigures(const VariantFile& file)
      : file_(file), found_(file.layout), missing_(file.layout.tags.size()) {}

  void add(const VariantRecord& record) override {
    found_.add(record);
    ++records_;
    if (record.alts.empty()) ++without_alts_;
    for (size_t t = 0; t < missing_.size(); ++t)
      for (size_t alt = 0; alt < record.alts.size(); ++alt) {
        if (!std::isnan(record.scores[t][alt])) continue;
        const size_t flag_tag = file_.layout.tags[t].flag_tag;
        count(flag_tag == kNoFlagTag ? "" : record.flags[flag_tag][alt], missing_[t]);
      }
  }

  void finish(Section& out) override {
    found_.finish();
    const std::vector<ScoreTag>& tags = file_.layout.tags;
    out.paragraphs.insert(out.paragraphs.begin(), counts());
    if (file_.options.files.size() > 1) out.sample = found_.sample(0, tags[0]);
    const std::vector<std::string> parts = figure_parts(tags, &ScoreTag::name);
    for (size_t t = 0; t < tags.size(); ++t) add_figures(t, file_.name + parts[t], out);
    const ScoreGroup first = all(0);
    out.statistics = {
        {"alleles", "Alleles", "Alternative alleles", static_cast<double>(first.alleles)},
        {"scored", "Scored", "Alleles with " + tags[0].name, static_cast<double>(first.scores.count)}};
    if (first.scores.count > 0)
      out.statistics.push_back({"median", "Median", "Median of " + tags[0].name, first.scores.quartiles[1]});
  }

 private:
  // The scores of a tag, perhaps none.
  ScoreGroup all(size_t t) const {
    const std::vector<ScoreGroup>& groups = found_.groups(t, Grouping::all);
    return groups.empty() ? ScoreGroup{} : groups[0];
  }

  std::string counts() const {
    const std::string records = file_.layout.table ? "line" : "record";
    const std::string types = joined(found_.groups(0, Grouping::type), ", ", [](const ScoreGroup& type) {
      return count_text(type.alleles) + " " + type.name;
    });
    std::string out = "The file has " + plural(records_, records) + " with " +
                      plural(all(0).alleles, "alternative allele") + (types.empty() ? "" : ": ") + types +
                      ".";
    if (without_alts_ > 0)
      out += " " + plural(without_alts_, records, "has", "have") + " no alternative allele.";
    for (size_t t = 0; t < missing_.size(); ++t) {
      const ScoreGroup found = all(t);
      const uint64_t missing = found.alleles - found.scores.count;
      out += " " + file_.layout.tags[t].name + " has a score for " + plural(found.scores.count, "allele");
      if (missing > 0)
        out +=
            "; " + count_text(missing) + (missing == 1 ? " has" : " have") + " none: " + list_of(missing_[t]);
      out += ".";
    }
    return out;
  }

  void add_figures(size_t t, const std::string& name, Section& out) const {
    const std::tuple<Grouping, std::string, std::string> kinds[] = {
        {Grouping::type, "type", "_by_type"},
        {Grouping::filter, "FILTER", "_by_filter"},
        {Grouping::consequence, "consequence (" + file_.layout.consequence_tag + ")", "_by_consequence"}};
    const std::string sample = file_name(file_.path);
    const ScoreTag& tag = file_.layout.tags[t];
    if (all(t).scores.count == 0) return;
    const std::vector<ScoreGroup>& alleles = found_.groups(t, Grouping::all);
    const ScoreBins& bins = found_.bins(t);
    out.parts.emplace_back(score_histogram({name + "_scores", sample, tag}, alleles[0], bins));
    std::vector<NamedGroups> rows = {{"", &alleles}};
    for (const auto& [grouping, by, part] : kinds) {
      if (!found_.has(grouping)) continue;
      const std::vector<ScoreGroup>& groups = found_.groups(t, grouping);
      rows.push_back({by, &groups});
      // A single row would be the histogram of all again.
      if (std::count_if(groups.begin(), groups.end(), [](const auto& g) { return g.scores.count > 0; }) > 1)
        out.parts.emplace_back(score_rows({name + part, sample, tag}, by, groups, bins));
    }
    out.parts.emplace_back(score_table({"", sample, tag}, rows));
  }

  const VariantFile& file_;
  VariantDistributions found_;
  uint64_t records_ = 0, without_alts_ = 0;
  std::vector<ByFlag> missing_;  // for each tag, alleles without a score; "" for no flag
};

// How well the scores of each tag separate the classes of a label. With several tags their curves are also
// drawn together, before those of each.
class LabelFigures final : public VariantPart {
 public:
  LabelFigures(const VariantFile& file, VariantComparison* comparison)
      : file_(file), comparison_(comparison) {
    const ClassNames& classes = file.layout.classes;
    for (const ScoreTag& tag : file.layout.tags)
      scores_.push_back(
          {.low = tag.low,
           .high = tag.high,
           .unit = tag.unit,
           .names = {cut_text(classes.positive, kClassName), cut_text(classes.negative, kClassName)}});
  }

  void add(const VariantRecord& record) override {
    for (size_t alt = 0; alt < record.labels.size(); ++alt)
      for (size_t t = 0; t < scores_.size(); ++t) add(record.labels[alt], record.scores[t][alt], scores_[t]);
  }

  void finish(Section& out) override {
    const std::string& label = file_.options.label;
    if (label.empty()) return;
    const std::vector<std::string> parts = figure_parts(file_.layout.tags, &ScoreTag::name);
    const size_t before = out.parts.size();
    std::vector<RocCurve> curves;
    for (size_t t = 0; t < scores_.size(); ++t)
      if (auto curve = add_label_figures(file_.name + parts[t], file_.layout.tags[t].name, scores_[t],
                                         file_.options, out))
        curves.push_back(std::move(*curve));
    if (curves.size() > 1)
      out.parts.insert(out.parts.begin() + static_cast<ptrdiff_t>(before),
                       roc_overlay(file_.name + "_roc", label, curves));
    for (const RocCurve& curve : curves)
      out.statistics.push_back({"auroc " + curve.name, "AUROC of " + curve.name,
                                "AUROC of " + curve.name + " for " + label, curve.auroc()});
    if (comparison_)
      for (RocCurve& curve : curves) comparison_->add(std::move(curve));
  }

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

  const VariantFile& file_;
  VariantComparison* comparison_;
  std::vector<LabelledScores> scores_;  // for each tag
};

// How far the first two tags agree.
class TagAgreement final : public VariantPart {
 public:
  explicit TagAgreement(const VariantFile& file) : file_(file) {}

  void add(const VariantRecord& record) override {
    for (size_t alt = 0; file_.layout.tags.size() > 1 && alt < record.alts.size(); ++alt) {
      const float a = record.scores[0][alt], b = record.scores[1][alt];
      if (!std::isnan(a) && !std::isnan(b))
        both_.add(a, b, both_.pairs() < kMostDots ? allele_name(record, alt) : "", verdict_of(record, alt));
    }
  }

  void finish(Section& out) override {
    const VariantLayout& layout = file_.layout;
    if (both_.pairs() > 0)
      both_.finish(file_.name + "_agreement", layout.tags[0], layout.tags[1], out,
                   file_.options.label.empty() ? nullptr : &layout.classes);
  }

 private:
  const VariantFile& file_;
  AgreementFigures both_;
};

void check_negate(const VariantLayout& layout, const ReportOptions& options) {
  const auto known = [](const ScoreTag& tag) { return tag.low || tag.high; };
  if (options.negate && std::all_of(layout.tags.begin(), layout.tags.end(), known))
    throw Error("report",
                (layout.tags[0].low ? "low scores of " : "high scores of ") + layout.tags[0].name +
                    " are those of damaging alleles, as the header says, and are treated so already",
                {"leave out {--negate}, which is for other tags"});
}

// What the label and the header say of all records.
void add_notes(const VariantSource& source, const ReportOptions& options, Section& out) {
  const VariantLayout& layout = source.layout();
  if (std::string words = source.label_words(); !words.empty()) {
    options.log->message("report", words);
    words[0] = 'W';
    out.paragraphs.push_back(words + ".");
  }
  if (!layout.unread_consequences.empty())
    out.paragraphs.push_back("The header does not say which fields " + layout.unread_consequences +
                             " has, so no consequences are shown.");
  else if (layout.consequence_tag.empty() && !layout.table)
    out.paragraphs.push_back(
        "No consequences are shown: the header defines none of BCSQ (bcftools csq), CSQ (VEP) and ANN "
        "(SnpEff).");
  if (layout.assembly)
    out.provenance.emplace_back(
        "Assembly of links",
        std::string(layout.assembly->name) + (options.assembly.empty() ? ", as the header says" : ""));
}

}  // namespace

Section variant_section(const std::string& name, const std::string& path, const ReportOptions& options,
                        VariantComparison* comparison) {
  const std::unique_ptr<VariantSource> source = open_variants(path, options);
  const VariantFile file{name, path, source->layout(), options};
  check_negate(file.layout, options);
  // First the ranking, because it is what most readers look for.
  const std::unique_ptr<VariantPart> parts[] = {variant_ranking(file),
                                                gene_tracks(file),
                                                std::make_unique<DistributionFigures>(file),
                                                std::make_unique<FlagFigures>(file),
                                                std::make_unique<LabelFigures>(file, comparison),
                                                std::make_unique<TagAgreement>(file)};
  if (comparison) comparison->begin(file.layout);
  for (VariantRecord record; source->next(record);) {
    for (const auto& part : parts) part->add(record);
    if (comparison) comparison->add(record);
  }
  Section out = begin_section(name, path, "scores of alleles", file.layout.header);
  add_notes(*source, options, out);
  for (const auto& part : parts) part->finish(out);
  return out;
}

}  // namespace carbon
