// +auroc: how well an INFO tag separates labelled alleles: AUROC, AUPRC, Spearman, with bootstrap intervals.
//
// A row is one ALT of one record.
#include <algorithm>
#include <map>
#include <optional>

#include "plugins/alleles.hpp"
#include "plugins/score_tags.hpp"
#include "plugins/strata.hpp"
#include "plugins/support.hpp"
#include "src/statistics/label.hpp"
#include "src/statistics/ranking.hpp"

namespace {

using namespace carbon;
using namespace carbon_plugins;

class Auroc {
 public:
  explicit Auroc(carbon_run* run) : run_(run) {}

  void declare(Options& options) {
    options.text("score", "TAG", "the INFO tag to judge (default: the only one with scores)", score_tag_);
    options.text("label", "EXPR",
                 "which alleles are positive: clinvar, TAG, TAG=A,B/C,D (positive/negative) or TAG>NUMBER "
                 "(default: clinvar, for CLNSIG)",
                 label_text_);
    options.flag("negate",
                 "judge minus the score: low where the label holds; for tags that are not of carbon",
                 negate_);
    options.text(
        "by", "type|TYPE|FILTER|TAG",
        "for each type of allele (type also divides indels by length), FILTER or value of a tag, their "
        "mean, and all together",
        by_);
    options
        .number("min-class", "N", "positive and negative alleles that a stratum must have, each", least_,
                uint64_t{1})
        .shows_default();
    options.text("thresholds", "FILE", "sensitivity, specificity and counts at 99 thresholds", thresholds_);
    options
        .number("bootstrap", "N", "samples for intervals, 0 for none", replicates_, uint64_t{0},
                uint64_t{1000000})
        .shows_default();
    options.number("seed", "N", "seed of the bootstrap samples", seed_, uint64_t{0}).shows_default();
    options.number("confidence", "SHARE", "confidence level of the intervals", confidence_, 0.0, 1.0)
        .shows_default();
    options.text("json", "FILE", "write the result as JSON as well, with each chromosome's", json_);
    options.example("pathogenic against benign in ClinVar, scored with the recipe published for it",
                    "carbon +auroc scored.bcf -- --score CARBON_NT --label clinvar");
    options.example("a functional assay with a threshold, also as JSON",
                    "carbon +auroc brca2.bcf -- --label 'SGE<-1.3' --json brca2.json");
  }

  void start() {
    if (label_text_.empty()) label_text_ = own_label();
    if (score_tag_.empty()) score_tag_ = only_score(run_, "score");
    label_ = parsed_label(label_text_);
    const int score_type = checked(run_->api->info_type(run_, score_tag_.c_str()));
    const int label_type = checked(run_->api->info_type(run_, label_->tag().c_str()));
    if (score_type != CARBON_TYPE_INTEGER && score_type != CARBON_TYPE_FLOAT)
      fail("--score " + score_tag_ + ": the header has no INFO tag of that name that is a number");
    if (label_type == CARBON_TYPE_NONE)
      fail("--label " + label_text_ + ": the header has no INFO tag " + label_->tag());
    set_label_type(*label_, label_type);
    direction_ = direction_of(run_, score_tag_);
    if (!by_.empty()) strata_.emplace(run_, by_);
    warn_of_demonstration(run_);
    results_.open(run_, json_);
    if (!thresholds_.empty()) threshold_file_.emplace(run_, thresholds_.c_str());
  }

  void record(carbon_record* record) {
    if (alt_count(run_, record) == 0) return;
    const std::vector<Verdict> verdicts = judge(run_, record, *label_, words_);
    const std::vector<uint32_t> strata =
        strata_ ? strata_->of(record) : std::vector<uint32_t>(verdicts.size());
    const carbon_values scores = info(run_, record, score_tag_);  // good until the next call
    for (size_t i = 0; i < verdicts.size(); ++i) {
      ++alleles_;
      const std::optional<double> score = number_of(run_, record, scores, score_tag_, i);
      if (!score || std::isnan(*score)) {
        ++missing_scores_;
      } else if (verdicts[i].kind == Verdict::missing) {
        ++missing_labels_;
      } else if (verdicts[i].kind == Verdict::neither) {
        ++other_labels_;
      } else {
        binary_ &= has_class(verdicts[i]);
        rows_.push_back({*score, verdicts[i].value, is_positive(verdicts[i]), chromosome(record), strata[i]});
      }
    }
  }

  void finish() {
    check_words(run_, *label_, words_);
    if (rows_.empty())
      fail("no allele has both " + score_tag_ + " and a label: of " + std::to_string(alleles_) + ", " +
           std::to_string(missing_scores_) + " lack the score, " + std::to_string(missing_labels_) +
           " the label and " + std::to_string(other_labels_) + " have a label of neither class");
    choose_direction();
    if (!binary_ && (strata_ || threshold_file_))
      fail(label_->tag() + " has other values than 0 and 1, so there are no classes, which " +
           (strata_ ? "--by" : "--thresholds") + " needs; give --label an expression such as '" +
           label_->tag() + ">0.5'");
    std::optional<StratifiedEvaluation> stratified;
    // Strata without a labelled allele that has the score are none.
    if (strata_)
      stratified.emplace(rows_, number_strata(), least_);
    else if (threshold_file_)
      stratified.emplace(rows_, 1, 1);
    if (threshold_file_) threshold_file_->write(thresholds(*stratified));
    const Evaluation evaluation(rows_, names_.size(), binary_);
    const Weights once(rows_.size(), 1);
    result_ = evaluation.metrics(once);
    warn();
    if (strata_) {
      Random random(seed_);
      stratified->bootstrap(replicates_, confidence_, random);
      warn_of_mix(*stratified);
    } else {
      bootstrap(evaluation);
    }
    results_.write(strata_ ? table(*stratified) : table(),
                   [&] { return json(evaluation, once, stratified); });
    name_picture();
  }

 private:
  /// That of ClinVar, where the input has its tag.
  std::string own_label() const {
    if (checked(run_->api->info_type(run_, "CLNSIG")) == CARBON_TYPE_STRING) return "clinvar";
    const ScoreTags scores = score_tags(run_);
    std::vector<std::string> tags;
    for_header_lines(run_, "INFO", [&](const char* line) {
      const std::string tag = header_field(header_fields(line), "ID");
      if (std::find(scores.of_carbon.begin(), scores.of_carbon.end(), tag) == scores.of_carbon.end())
        tags.push_back(tag);
    });
    fail("--label is missing: name the tag or expression that says what is positive" +
         (tags.empty() ? "" : "; the tags of the input besides scores are " + list_of(tags)));
  }

  uint32_t chromosome(carbon_record* record) {
    const std::string name = run_->api->record_contig(run_, record);
    const auto [at, added] = numbers_.emplace(name, static_cast<uint32_t>(names_.size()));
    if (added) names_.push_back(name);
    return at->second;
  }

  uint64_t positives() const {
    return static_cast<uint64_t>(
        std::count_if(rows_.begin(), rows_.end(), [](const LabelledRow& r) { return r.positive; }));
  }

  /// Without classes there is a correlation alone, which has a sign and needs no direction.
  void choose_direction() {
    if (negate_) check_negate(score_tag_, direction_);
    turned_ = negate_ || (binary_ && direction_ == ScoreDirection::low);
    for (LabelledRow& row : rows_)
      if (turned_) row.score = -row.score;
  }

  void warn() const {
    const uint64_t positive = positives();
    std::string text;
    if (!binary_)
      text = label_->tag() + " has other values than 0 and 1, so there are no classes";
    else if (positive == 0 || positive == rows_.size())
      text = "all " + std::to_string(rows_.size()) + " labelled alleles are " +
             (positive ? "positive" : "negative");
    if (!text.empty())
      text += ": AUROC and AUPRC are undefined";
    else if (const double auroc = result_.values[0]; auroc < 0.5)
      text = reversed_words(score_tag_, to_text(auroc), turned_, direction_ != ScoreDirection::unknown);
    if (!text.empty()) run_->api->message(run_, CARBON_WARNING, text.c_str());
  }

  void name_picture() const {
    const std::string input = run_->api->input(run_, 0);
    if (!binary_ || input == "-") return;  // a report draws classes, and the pipe is read
    name_report(run_, "--tags " + shell_word(score_tag_) + " --label " + shell_word(label_text_) +
                          (negate_ ? " --negate " : " ") + shell_word(input));
  }

  // Percentile intervals: rows drawn with replacement; a sample in which a metric is undefined does not count
  // for it.
  void bootstrap(const Evaluation& evaluation) {
    Random random(seed_);
    std::vector<double> found[RankMetrics::kCount];
    Weights weights(rows_.size());
    for (uint64_t b = 0; b < replicates_; ++b) {
      resample(weights, random);
      const RankMetrics sample = evaluation.metrics(weights);
      for (size_t m = 0; m < RankMetrics::kCount; ++m)
        if (!std::isnan(sample.values[m])) found[m].push_back(sample.values[m]);
    }
    for (size_t m = 0; m < RankMetrics::kCount; ++m) {
      if (!std::isnan(result_.values[m]))
        std::tie(low_.values[m], high_.values[m]) = percentile_interval(found[m], confidence_);
    }
  }

  /// Numbers the strata of rows in the order of the file; returns how many there are.
  size_t number_strata() {
    std::map<uint32_t, uint32_t> found;
    for (LabelledRow& row : rows_) {
      const auto [at, added] = found.emplace(row.stratum, static_cast<uint32_t>(found.size()));
      if (added) stratum_names_.push_back(strata_->names()[row.stratum]);
      row.stratum = at->second;
    }
    return found.size();
  }

  void warn_of_mix(const StratifiedEvaluation& stratified) const {
    const double macro = stratified.lines()[stratum_names_.size()].values[0],
                 pooled = stratified.lines().back().values[0];
    if (std::isnan(macro))
      run_->api->message(
          run_, CARBON_WARNING,
          ("no stratum has " + std::to_string(least_) +
           " positive and as many negative alleles: there are no metrics; --min-class sets how many")
              .c_str());
    if (pooled > macro + 0.05)
      run_->api->message(
          run_, CARBON_WARNING,
          ("the AUROC of all alleles together, " + to_text(pooled) + ", is above the mean of the strata, " +
           to_text(macro) + ": it comes in part from strata with more positive alleles and other scores")
              .c_str());
  }

  std::string stratum_name(size_t line) const {
    return line < stratum_names_.size()    ? stratum_names_[line]
           : line == stratum_names_.size() ? "macro"
                                           : "pooled";
  }

  std::string table(const StratifiedEvaluation& stratified) const {
    std::string out = "#stratum\tpositive\tnegative";
    for (size_t m = 0; m < 3; ++m)
      for (const char* const end : {"", "_low", "_high"})
        out += std::string("\t") + RankMetrics::kNames[m] + end;
    out += '\n';
    for (size_t line = 0; line < stratified.lines().size(); ++line) {
      const StratumMetrics& found = stratified.lines()[line];
      out +=
          stratum_name(line) + "\t" + std::to_string(found.positive) + "\t" + std::to_string(found.negative);
      for (size_t m = 0; m < 3; ++m)
        for (const double value : {found.values[m], found.low[m], found.high[m]})
          out += "\t" + to_text(value);
      out += '\n';
    }
    return out;
  }

  std::string as_in_file(double score) const {
    char digits[32];
    return {digits, run_->api->format_float(static_cast<float>(score), digits)};
  }

  /// Counts at the score of each percentile of the labelled alleles, from the least harmful on.
  std::string thresholds(const StratifiedEvaluation& stratified) const {
    std::string out =
        "## counts of alleles of this file, and no calibration: ppv is at its own share of positives\n#";
    out += strata_ ? "stratum\tthreshold" : "threshold";
    out += "\tsensitivity\tspecificity\tppv\ttp\tfp\ttn\tfn\n";
    for (size_t s = 0; s + 2 < stratified.lines().size(); ++s) {
      const std::vector<uint32_t>& order = stratified.order(s);  // the most harmful first
      const std::string name = strata_ ? stratum_names_[s] + "\t" : "";
      const auto positives = static_cast<uint64_t>(
          std::count_if(order.begin(), order.end(), [&](uint32_t i) { return rows_[i].positive; }));
      double last = kNaN;
      for (size_t percent = 1; !order.empty() && percent < 100; ++percent) {
        const size_t number = (percent * order.size() + 99) / 100;  // from 1, the least harmful first
        const double score = rows_[order[order.size() - number]].score;
        if (score == last) continue;
        last = score;
        uint64_t tp = 0, fp = 0;
        for (const uint32_t i : order)
          if (rows_[i].score >= score) ++(rows_[i].positive ? tp : fp);
        const uint64_t negatives = order.size() - positives;
        const auto share = [](uint64_t part, uint64_t of) {
          return to_text(static_cast<double>(part) / static_cast<double>(of));
        };
        out += name + as_in_file(turned_ ? -score : score) + "\t" + share(tp, positives) + "\t" +
               share(negatives - fp, negatives) + "\t" + share(tp, tp + fp);
        for (const uint64_t count : {tp, fp, negatives - fp, positives - tp})
          out += "\t" + std::to_string(count);
        out += '\n';
      }
    }
    return out;
  }

  std::vector<std::pair<const char*, uint64_t>> counts() const {
    const uint64_t positive = binary_ ? positives() : 0;
    return {{"alleles", alleles_},
            {"used", rows_.size()},
            {"positive", positive},
            {"negative", binary_ ? rows_.size() - positive : 0},
            {"missing_score", missing_scores_},
            {"missing_label", missing_labels_},
            {"other_label", other_labels_}};
  }

  std::string table() const {
    std::string out = "#metric\tvalue\tlow\thigh\n";
    for (size_t m = 0; m < RankMetrics::kCount; ++m)
      out += std::string(RankMetrics::kNames[m]) + "\t" + to_text(result_.values[m]) + "\t" +
             to_text(low_.values[m]) + "\t" + to_text(high_.values[m]) + "\n";
    for (const auto& [name, count] : counts())
      out += std::string(name) + "\t" + std::to_string(count) + "\t.\t.\n";
    return out;
  }

  std::string json(const Evaluation& evaluation, const Weights& once,
                   const std::optional<StratifiedEvaluation>& stratified) const {
    Json out;
    out.open('{').name("score").value(score_tag_).name("label").value(label_text_);
    out.name("negated").value(turned_).name("bootstrap").value(replicates_).name("seed").value(seed_);
    out.name("confidence").value(confidence_);
    out.name("metrics").open('{');
    for (size_t m = 0; m < RankMetrics::kCount; ++m) {
      out.name(RankMetrics::kNames[m]).open('{').name("value").value(result_.values[m]);
      out.name("low").value(low_.values[m]).name("high").value(high_.values[m]).close('}');
    }
    out.close('}').name("counts").open('{');
    for (const auto& [name, count] : counts()) out.name(name).value(count);
    out.close('}');
    if (strata_) add_strata(out, *stratified);
    out.name("chromosomes").open('[');
    for (size_t c = 0; binary_ && c < names_.size(); ++c) {
      const ClassMetrics one = evaluation.chromosome(c, once);
      out.open('{').name("name").value(names_[c]);
      out.name("positive").value(one.positive).name("negative").value(one.negative);
      for (size_t m = 0; m < 3; ++m) out.name(RankMetrics::kNames[m]).value(one.values[m]);
      out.close('}');
    }
    return out.close(']').close('}').text();
  }

  void add_strata(Json& out, const StratifiedEvaluation& stratified) const {
    out.name("by").value(by_).name("min_class").value(least_).name("strata").open('[');
    for (size_t line = 0; line < stratified.lines().size(); ++line) {
      const StratumMetrics& found = stratified.lines()[line];
      out.open('{').name("name").value(stratum_name(line));
      out.name("positive").value(found.positive).name("negative").value(found.negative);
      for (size_t m = 0; m < 3; ++m) {
        out.name(RankMetrics::kNames[m]).open('{').name("value").value(found.values[m]);
        out.name("low").value(found.low[m]).name("high").value(found.high[m]).close('}');
      }
      out.close('}');
    }
    out.close(']');
  }

  carbon_run* run_;
  std::string score_tag_, label_text_, json_, by_, thresholds_;
  uint64_t least_ = 30;
  std::optional<Strata> strata_;
  std::vector<std::string> stratum_names_;  // of rows
  std::optional<Output> threshold_file_;
  Results results_;
  bool negate_ = false, turned_ = false;                // low scores speak for the label
  ScoreDirection direction_ = ScoreDirection::unknown;  // by the header
  uint64_t replicates_ = 1000, seed_ = 0;
  double confidence_ = 0.95;

  std::optional<Label> label_;
  carbon::LabelWords words_;
  bool binary_ = true;
  std::vector<LabelledRow> rows_;
  std::map<std::string, uint32_t> numbers_;
  std::vector<std::string> names_;  // of chromosomes, as they come
  uint64_t alleles_ = 0, missing_scores_ = 0, missing_labels_ = 0, other_labels_ = 0;
  RankMetrics result_, low_, high_;  // the interval's ends
};

}  // namespace

CARBON_PLUGIN(Auroc, "AUROC, AUPRC and Spearman of an INFO tag against labels", CARBON_READS_RECORDS)
