// +auroc: how well an INFO tag separates labelled alleles: AUROC, AUPRC, Spearman, with bootstrap intervals.
//
// A row is one ALT of one record. The definitions are scikit-learn's and scipy's: ties share a threshold of a
// curve and an average rank.
#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>
#include <optional>

#include "plugins/support.hpp"

namespace {

using namespace carbon_plugins;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// ---- labels

struct Verdict {
  enum Kind { classed, value_only, neither, missing } kind = missing;
  bool positive = false;
  double value = 0;  // for rank correlation
};

/// TAG | TAG=A,B[/C,D] | TAG>NUMBER and the like.
class Label {
 public:
  explicit Label(const std::string& text) {
    const size_t end = std::min(text.find_first_of("=<>!"), text.size());
    tag_ = text.substr(0, end);
    std::string rest = text.substr(end);
    for (const char* op : {"==", "!=", "<=", ">=", "<", ">", "="})
      if (rest.starts_with(op)) {
        operator_ = op;
        break;
      }
    rest = rest.substr(operator_.size());
    if (tag_.empty() || (rest.empty() != operator_.empty()))
      fail("--label " + text + ": expected TAG, TAG=A,B/C,D or TAG>NUMBER");
    if (operator_ == "=") {
      read_lists(rest, text);
    } else if (!operator_.empty() && !parse_number(rest, threshold_)) {
      fail("--label " + text + ": '" + rest + "' is not a number; words are compared with a single =");
    }
  }

  const std::string& tag() const { return tag_; }

  /// Refuses a type of tag that the expression cannot be asked of. Floats are compared in their own
  /// precision.
  void set_type(int type) {
    const bool numeric = type == CARBON_TYPE_INTEGER || type == CARBON_TYPE_FLOAT;
    if (type == CARBON_TYPE_FLAG && !operator_.empty())
      fail("--label: " + tag_ + " is a flag; give its name alone");
    if (type == CARBON_TYPE_STRING && operator_ != "=")
      fail("--label: " + tag_ + " is text; name its values, " + tag_ + "=A,B/C,D");
    if (numeric && operator_ == "=")
      for (const auto* list : {&positive_, &negative_})
        for (const std::string& word : *list)
          if (double ignored; !parse_number(word, ignored))
            fail("--label: " + tag_ + " is a number, '" + word + "' is none");
    is_float_ = type == CARBON_TYPE_FLOAT;
    threshold_ = exact(threshold_);
  }

  /// `values` are those of one allele, or the record's.
  Verdict judge_numbers(std::optional<double> value) const {
    if (!value || std::isnan(*value)) return {};
    if (operator_.empty()) return {Verdict::value_only, false, *value};
    if (operator_ == "=") return judge(listed(positive_, *value), listed(negative_, *value));
    const bool holds = operator_ == "=="   ? *value == threshold_
                       : operator_ == "!=" ? *value != threshold_
                       : operator_ == "<=" ? *value <= threshold_
                       : operator_ == ">=" ? *value >= threshold_
                       : operator_ == "<"  ? *value < threshold_
                                           : *value > threshold_;
    return {Verdict::classed, holds, *value};
  }
  Verdict judge_texts(const char* const* texts, size_t count) const {
    bool any = false, positive = false, negative = false;
    for (size_t i = 0; i < count; ++i) {
      if (!texts[i]) continue;
      any = true;
      positive |= std::find(positive_.begin(), positive_.end(), texts[i]) != positive_.end();
      negative |= std::find(negative_.begin(), negative_.end(), texts[i]) != negative_.end();
    }
    return any ? judge(positive, negative) : Verdict{};
  }

 private:
  Verdict judge(bool positive, bool negative) const {
    if (negative_.empty()) negative = !positive;
    if (positive == negative) return {Verdict::neither, false, 0};
    return {Verdict::classed, positive, positive ? 1.0 : 0.0};
  }
  double exact(double number) const {
    return is_float_ ? static_cast<double>(static_cast<float>(number)) : number;
  }
  bool listed(const std::vector<std::string>& words, double value) const {
    return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
      double number = kNaN;
      return parse_number(word, number) && exact(number) == value;
    });
  }
  /// A,B/C,D; a backslash before / or , makes it a letter of the word.
  void read_lists(const std::string& rest, const std::string& text) {
    std::vector<std::string>* list = &positive_;
    std::string word;
    const auto end_word = [&] {
      if (word.empty()) fail("--label " + text + ": an empty word");
      list->push_back(std::move(word));
      word.clear();
    };
    for (size_t i = 0; i < rest.size(); ++i) {
      const char c = rest[i];
      if (c == '\\' && i + 1 < rest.size() && std::strchr("/,\\", rest[i + 1])) {
        word += rest[++i];
      } else if (c == ',') {
        end_word();
      } else if (c == '/') {
        if (list == &negative_)
          fail("--label " + text + ": a second /; write \\/ for one that belongs to a word");
        end_word();
        list = &negative_;
      } else {
        word += c;
      }
    }
    end_word();
  }

  std::string tag_, operator_;
  std::vector<std::string> positive_, negative_;
  double threshold_ = 0;
  bool is_float_ = false;
};

// ---- statistics

struct Row {
  double score = 0, value = 0;
  bool positive = false;
  uint32_t chromosome = 0;
};

/// How often each row counts: all once, or as a bootstrap sample drew them.
using Weights = std::vector<uint32_t>;

struct ClassMetrics {
  double values[3] = {kNaN, kNaN, kNaN};  // AUROC, AUPRC, average precision
  uint64_t positive = 0, negative = 0;
  bool defined() const { return positive > 0 && negative > 0; }
};

/// `order` lists rows by falling score. NaN with one class alone.
ClassMetrics class_metrics(const std::vector<Row>& rows, const std::vector<uint32_t>& order,
                           const Weights& weights) {
  ClassMetrics out;
  for (const uint32_t i : order) (rows[i].positive ? out.positive : out.negative) += weights[i];
  if (!out.defined()) return out;
  const auto positives = static_cast<double>(out.positive), negatives = static_cast<double>(out.negative);
  double tp = 0, fp = 0, last_precision = 1, pairs = 0, trapezoids = 0, steps = 0;
  for (size_t begin = 0; begin < order.size();) {
    double group_tp = 0, group_fp = 0;
    size_t end = begin;
    for (; end < order.size() && rows[order[end]].score == rows[order[begin]].score; ++end)
      (rows[order[end]].positive ? group_tp : group_fp) += weights[order[end]];
    begin = end;
    if (group_tp + group_fp == 0) continue;  // no row of a sample has this score
    pairs += group_fp * (tp + group_tp / 2);
    tp += group_tp;
    fp += group_fp;
    const double precision = tp / (tp + fp);
    trapezoids += group_tp / positives * (precision + last_precision) / 2;
    steps += group_tp / positives * precision;
    last_precision = precision;
  }
  out.values[0] = pairs / (positives * negatives);
  out.values[1] = trapezoids;
  out.values[2] = steps;
  return out;
}

/// Average ranks, from 1, of a member of each row; `order` is sorted by it.
std::vector<double> ranks(const std::vector<Row>& rows, const std::vector<uint32_t>& order,
                          const Weights& weights, double Row::*key) {
  std::vector<double> out(rows.size());
  double before = 0;
  for (size_t begin = 0; begin < order.size();) {
    double count = 0;
    size_t end = begin;
    for (; end < order.size() && rows[order[end]].*key == rows[order[begin]].*key; ++end)
      count += weights[order[end]];
    for (size_t i = begin; i < end; ++i) out[order[i]] = before + (count + 1) / 2;
    before += count;
    begin = end;
  }
  return out;
}

/// Everything that one set of weights is asked for.
struct Metrics {
  static constexpr size_t kCount = 7;
  static constexpr const char* kNames[kCount] = {
      "auroc",          "auprc",          "average_precision",
      "auroc_by_chrom", "auprc_by_chrom", "average_precision_by_chrom",
      "spearman"};
  double values[kCount] = {kNaN, kNaN, kNaN, kNaN, kNaN, kNaN, kNaN};
};

class Evaluation {
 public:
  Evaluation(const std::vector<Row>& rows, size_t chromosomes, bool classes)
      : rows_(rows), classes_(classes), by_score_(rows.size()), by_chromosome_(chromosomes) {
    std::iota(by_score_.begin(), by_score_.end(), 0u);
    by_value_ = by_score_;
    std::stable_sort(by_score_.begin(), by_score_.end(),
                     [&](uint32_t a, uint32_t b) { return rows[a].score > rows[b].score; });
    std::stable_sort(by_value_.begin(), by_value_.end(),
                     [&](uint32_t a, uint32_t b) { return rows[a].value > rows[b].value; });
    for (const uint32_t i : by_score_) by_chromosome_[rows[i].chromosome].push_back(i);
  }

  Metrics metrics(const Weights& weights) const {
    Metrics out;
    if (classes_) {
      const ClassMetrics all = class_metrics(rows_, by_score_, weights);
      std::copy_n(all.values, 3, out.values);
      add_by_chromosome(weights, out);
    }
    out.values[6] = spearman(weights);
    return out;
  }
  ClassMetrics chromosome(size_t number, const Weights& weights) const {
    return class_metrics(rows_, by_chromosome_[number], weights);
  }

 private:
  // The mean over chromosomes, each weighted by its rows; those with one class are left out.
  void add_by_chromosome(const Weights& weights, Metrics& out) const {
    double sums[3] = {0, 0, 0}, total = 0;
    for (const std::vector<uint32_t>& order : by_chromosome_) {
      const ClassMetrics one = class_metrics(rows_, order, weights);
      if (!one.defined()) continue;
      const auto count = static_cast<double>(one.positive + one.negative);
      for (size_t i = 0; i < 3; ++i) sums[i] += count * one.values[i];
      total += count;
    }
    for (size_t i = 0; total > 0 && i < 3; ++i) out.values[3 + i] = sums[i] / total;
  }

  double spearman(const Weights& weights) const {
    const std::vector<double> x = ranks(rows_, by_score_, weights, &Row::score);
    const std::vector<double> y = ranks(rows_, by_value_, weights, &Row::value);
    double count = 0;
    for (const uint32_t weight : weights) count += weight;
    const double middle = (count + 1) / 2;
    double xy = 0, xx = 0, yy = 0;
    for (size_t i = 0; i < rows_.size(); ++i) {
      xy += weights[i] * (x[i] - middle) * (y[i] - middle);
      xx += weights[i] * (x[i] - middle) * (x[i] - middle);
      yy += weights[i] * (y[i] - middle) * (y[i] - middle);
    }
    return xx > 0 && yy > 0 ? xy / std::sqrt(xx * yy) : kNaN;
  }

  const std::vector<Row>& rows_;
  bool classes_;
  std::vector<uint32_t> by_score_, by_value_;
  std::vector<std::vector<uint32_t>> by_chromosome_;
};

/// The quantile at `share` of sorted values, linear between neighbours.
double quantile(const std::vector<double>& sorted, double share) {
  if (sorted.empty()) return kNaN;
  const double at = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(at);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (at - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

// ---- the plugin

class Auroc {
 public:
  explicit Auroc(carbon_run* run) : run_(run) {}

  void declare(Options& options) {
    options.text("score", "TAG", "the INFO tag to judge (default: CARBON_LLR)", score_tag_);
    options.text("label", "EXPR", "TAG, TAG=A,B/C,D (positive/negative) or TAG>NUMBER; required",
                 label_text_);
    options.flag("negate", "judge minus the score: for scores that are low where the label holds", negate_);
    options.number("bootstrap", "N", "samples for intervals, 0 for none (default: 1000)", replicates_,
                   uint64_t{0}, uint64_t{1000000});
    options.number("seed", "N", "of the bootstrap (default: 0)", seed_, uint64_t{0});
    options.number("confidence", "SHARE", "of the intervals (default: 0.95)", confidence_, 0.0, 1.0);
    options.text("json", "FILE", "write the result as JSON as well, with each chromosome's", json_);
  }

  void start() {
    if (label_text_.empty())
      fail("--label is missing: name the tag or expression that says what is positive");
    label_.emplace(label_text_);
    const int score_type = checked(run_->api->info_type(run_, score_tag_.c_str()));
    const int label_type = checked(run_->api->info_type(run_, label_->tag().c_str()));
    if (score_type != CARBON_TYPE_INTEGER && score_type != CARBON_TYPE_FLOAT)
      fail("--score " + score_tag_ + ": the header has no INFO tag of that name that is a number");
    if (label_type == CARBON_TYPE_NONE)
      fail("--label " + label_text_ + ": the header has no INFO tag " + label_->tag());
    label_->set_type(label_type);
    label_is_flag_ = label_type == CARBON_TYPE_FLAG;
  }

  void record(carbon_record* record) {
    const size_t alts = run_->api->record_allele_count(run_, record) - 1;
    if (alts == 0) return;
    const std::vector<Verdict> verdicts = judge(record, alts);
    const carbon_values scores = info(record, score_tag_);
    for (size_t i = 0; i < alts; ++i) {
      ++alleles_;
      const std::optional<double> score = number_of(record, scores, score_tag_, i, alts);
      if (!score || std::isnan(*score)) {
        ++missing_scores_;
      } else if (verdicts[i].kind == Verdict::missing) {
        ++missing_labels_;
      } else if (verdicts[i].kind == Verdict::neither) {
        ++other_labels_;
      } else {
        binary_ &= verdicts[i].kind == Verdict::classed || verdicts[i].value == 0 || verdicts[i].value == 1;
        const bool positive =
            verdicts[i].kind == Verdict::classed ? verdicts[i].positive : verdicts[i].value == 1;
        rows_.push_back({negate_ ? -*score : *score, verdicts[i].value, positive, chromosome(record)});
      }
    }
  }

  void finish() {
    if (rows_.empty())
      fail("no allele has both " + score_tag_ + " and a label: of " + std::to_string(alleles_) + ", " +
           std::to_string(missing_scores_) + " lack the score, " + std::to_string(missing_labels_) +
           " the label and " + std::to_string(other_labels_) + " have a label of neither class");
    const Evaluation evaluation(rows_, names_.size(), binary_);
    const Weights once(rows_.size(), 1);
    result_ = evaluation.metrics(once);
    warn();
    bootstrap(evaluation);
    Output(run_, nullptr).write(table());
    if (!json_.empty()) Output(run_, json_.c_str()).write(json(evaluation, once));
  }

 private:
  carbon_values info(carbon_record* record, const std::string& tag) {
    carbon_values values{};
    checked(run_->api->record_info(run_, record, tag.c_str(), &values));
    return values;
  }
  std::string place(carbon_record* record) const {
    return std::string(run_->api->record_contig(run_, record)) + ":" +
           std::to_string(run_->api->record_pos(run_, record) + 1);
  }

  /// Where the values of the i-th ALT begin and how many there are.
  std::pair<size_t, size_t> values_of(carbon_record* record, const carbon_values& values,
                                      const std::string& tag, size_t i, size_t alts) const {
    const bool of_alts = values.per == CARBON_PER_ALT, of_alleles = values.per == CARBON_PER_ALLELE;
    if (!of_alts && !of_alleles) return {0, values.count};
    if (values.count == alts + of_alleles) return {i + of_alleles, 1};
    if (values.count == 1) return {0, 1};  // a single '.' for all
    fail(place(record) + ": " + std::to_string(values.count) + " values of " + tag + " for " +
         std::to_string(alts) + " alternative alleles");
  }
  std::optional<double> number_of(carbon_record* record, const carbon_values& values, const std::string& tag,
                                  size_t i, size_t alts) const {
    const auto [at, count] = values_of(record, values, tag, i, alts);
    if (count > 1)
      fail(place(record) + ": " + tag + " has " + std::to_string(count) +
           " values, and the header does not say of which allele each is (Number=A or R)");
    return count == 0 ? std::nullopt : std::optional(values.numbers[at]);
  }

  std::vector<Verdict> judge(carbon_record* record, size_t alts) {
    const carbon_values values = info(record, label_->tag());
    std::vector<Verdict> out(alts);
    if (label_is_flag_) {
      const bool present = values.type == CARBON_TYPE_FLAG;
      std::fill(out.begin(), out.end(), Verdict{Verdict::classed, present, present ? 1.0 : 0.0});
      return out;
    }
    for (size_t i = 0; i < alts; ++i) {
      if (values.type == CARBON_TYPE_STRING) {
        const auto [at, count] = values_of(record, values, label_->tag(), i, alts);
        out[i] = label_->judge_texts(values.texts + at, count);
      } else if (values.type != CARBON_TYPE_NONE) {
        out[i] = label_->judge_numbers(number_of(record, values, label_->tag(), i, alts));
      }
    }
    return out;
  }

  uint32_t chromosome(carbon_record* record) {
    const std::string name = run_->api->record_contig(run_, record);
    const auto [at, added] = numbers_.emplace(name, static_cast<uint32_t>(names_.size()));
    if (added) names_.push_back(name);
    return at->second;
  }

  uint64_t positives() const {
    return static_cast<uint64_t>(
        std::count_if(rows_.begin(), rows_.end(), [](const Row& r) { return r.positive; }));
  }

  void warn() const {
    const uint64_t positive = positives();
    std::string text;
    if (!binary_)
      text = label_->tag() + " has other values than 0 and 1, so there are no classes";
    else if (positive == 0 || positive == rows_.size())
      text = "all " + std::to_string(rows_.size()) + " labelled alleles are " +
             (positive ? "positive" : "negative");
    if (text.empty()) return;
    text += ": AUROC and AUPRC are undefined";
    run_->api->message(run_, CARBON_WARNING, text.c_str());
  }

  // Percentile intervals: rows drawn with replacement; a sample in which a metric is undefined does not count
  // for it.
  void bootstrap(const Evaluation& evaluation) {
    Random random(seed_);
    std::vector<double> found[Metrics::kCount];
    Weights weights(rows_.size());
    for (uint64_t b = 0; b < replicates_; ++b) {
      std::fill(weights.begin(), weights.end(), 0u);
      for (size_t i = 0; i < rows_.size(); ++i) ++weights[random.below(rows_.size())];
      const Metrics sample = evaluation.metrics(weights);
      for (size_t m = 0; m < Metrics::kCount; ++m)
        if (!std::isnan(sample.values[m])) found[m].push_back(sample.values[m]);
    }
    for (size_t m = 0; m < Metrics::kCount; ++m) {
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
    for (size_t m = 0; m < Metrics::kCount; ++m)
      out += std::string(Metrics::kNames[m]) + "\t" + to_text(result_.values[m]) + "\t" +
             to_text(low_.values[m]) + "\t" + to_text(high_.values[m]) + "\n";
    for (const auto& [name, count] : counts())
      out += std::string(name) + "\t" + std::to_string(count) + "\t.\t.\n";
    return out;
  }

  std::string json(const Evaluation& evaluation, const Weights& once) const {
    Json out;
    out.open('{').name("score").value(score_tag_).name("label").value(label_text_);
    out.name("negated").value(negate_).name("bootstrap").value(replicates_).name("seed").value(seed_);
    out.name("confidence").value(confidence_);
    out.name("metrics").open('{');
    for (size_t m = 0; m < Metrics::kCount; ++m) {
      out.name(Metrics::kNames[m]).open('{').name("value").value(result_.values[m]);
      out.name("low").value(low_.values[m]).name("high").value(high_.values[m]).close('}');
    }
    out.close('}').name("counts").open('{');
    for (const auto& [name, count] : counts()) out.name(name).value(count);
    out.close('}').name("chromosomes").open('[');
    for (size_t c = 0; binary_ && c < names_.size(); ++c) {
      const ClassMetrics one = evaluation.chromosome(c, once);
      out.open('{').name("name").value(names_[c]);
      out.name("positive").value(one.positive).name("negative").value(one.negative);
      for (size_t m = 0; m < 3; ++m) out.name(Metrics::kNames[m]).value(one.values[m]);
      out.close('}');
    }
    return out.close(']').close('}').text();
  }

  carbon_run* run_;
  std::string score_tag_ = "CARBON_LLR", label_text_, json_;
  bool negate_ = false;
  uint64_t replicates_ = 1000, seed_ = 0;
  double confidence_ = 0.95;

  std::optional<Label> label_;
  bool label_is_flag_ = false, binary_ = true;
  std::vector<Row> rows_;
  std::map<std::string, uint32_t> numbers_;
  std::vector<std::string> names_;  // of chromosomes, as they come
  uint64_t alleles_ = 0, missing_scores_ = 0, missing_labels_ = 0, other_labels_ = 0;
  Metrics result_, low_, high_;  // the interval's ends
};

}  // namespace

CARBON_PLUGIN(Auroc, "AUROC, AUPRC and Spearman of an INFO tag against labels", CARBON_READS_RECORDS)
