// +auroc: how well an INFO tag separates labelled alleles: AUROC, AUPRC, Spearman, with bootstrap intervals.
//
// A row is one ALT of one record.
#include <algorithm>
#include <map>
#include <optional>

#include "plugins/alleles.hpp"
#include "plugins/score_tags.hpp"
#include "plugins/support.hpp"
#include "src/statistics/direction.hpp"
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
                 "clinvar, TAG, TAG=A,B/C,D (positive/negative) or TAG>NUMBER (default: clinvar, for CLNSIG)",
                 label_text_);
    options.flag("negate",
                 "judge minus the score: low where the label holds; for tags that are not of carbon",
                 negate_);
    options.number("bootstrap", "N", "samples for intervals, 0 for none (default: 1000)", replicates_,
                   uint64_t{0}, uint64_t{1000000});
    options.number("seed", "N", "of the bootstrap (default: 0)", seed_, uint64_t{0});
    options.number("confidence", "SHARE", "of the intervals (default: 0.95)", confidence_, 0.0, 1.0);
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
    low_by_header_ = low_is_damaging(run_, score_tag_);
    warn_of_demonstration(run_);
    results_.open(run_, json_);
  }

  void record(carbon_record* record) {
    if (alt_count(run_, record) == 0) return;
    const std::vector<Verdict> verdicts = judge(run_, record, *label_, words_);
    const carbon_values scores = info(run_, record, score_tag_);
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
        rows_.push_back({*score, verdicts[i].value, is_positive(verdicts[i]), chromosome(record)});
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
    const Evaluation evaluation(rows_, names_.size(), binary_);
    const Weights once(rows_.size(), 1);
    result_ = evaluation.metrics(once);
    warn();
    bootstrap(evaluation);
    results_.write(table(), [&] { return json(evaluation, once); });
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
    if (negate_ && low_by_header_)
      fail("--negate is for tags whose direction is not known: by the header low values of " + score_tag_ +
           " are those of damaging alleles, and minus the score is taken already; leave it out");
    turned_ = negate_ || (binary_ && low_by_header_);
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
      text = reversed_words(score_tag_, to_text(auroc), turned_, low_by_header_);
    if (!text.empty()) run_->api->message(run_, CARBON_WARNING, text.c_str());
  }

  void name_picture() const {
    const std::string input = run_->api->input(run_, 0);
    if (!binary_ || input == "-") return;  // a report draws classes, and the pipe is read
    name_report(run_, "--tags " + shell_word(score_tag_) + " --label " + shell_word(label_text_) +
                          (negate_ && !low_by_header_ ? " --negate " : " ") + shell_word(input));
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
      std::sort(found[m].begin(), found[m].end());
      if (std::isnan(result_.values[m])) continue;
      low_.values[m] = quantile(found[m], (1 - confidence_) / 2);
      high_.values[m] = quantile(found[m], (1 + confidence_) / 2);
    }
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

  std::string json(const Evaluation& evaluation, const Weights& once) const {
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
    out.close('}').name("chromosomes").open('[');
    for (size_t c = 0; binary_ && c < names_.size(); ++c) {
      const ClassMetrics one = evaluation.chromosome(c, once);
      out.open('{').name("name").value(names_[c]);
      out.name("positive").value(one.positive).name("negative").value(one.negative);
      for (size_t m = 0; m < 3; ++m) out.name(RankMetrics::kNames[m]).value(one.values[m]);
      out.close('}');
    }
    return out.close(']').close('}').text();
  }

  carbon_run* run_;
  std::string score_tag_, label_text_, json_;
  Results results_;
  bool negate_ = false, low_by_header_ = false, turned_ = false;  // low scores speak for the label
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
