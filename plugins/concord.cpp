// +concord: how far two scores of the same alleles agree, of two tags or of two files.
//
// A pair is one ALT of one record that has both scores. Every other allele is counted.
#include <optional>
#include <variant>

#include "plugins/allele_table.hpp"
#include "plugins/alleles.hpp"
#include "plugins/score_tags.hpp"
#include "plugins/strata.hpp"
#include "plugins/support.hpp"
#include "src/statistics/agreement.hpp"
#include "src/statistics/label.hpp"

namespace {

using namespace carbon;
using namespace carbon_plugins;

struct Counts {
  uint64_t alleles = 0;  // of the first file
  uint64_t only_a = 0, missing_a = 0, missing_b = 0, missing_both = 0;
};

/// One line of the table.
struct Line {
  std::string name;
  Counts counts;
  uint64_t pairs = 0;
  double only_b = kNaN;  // known for all alleles together
  Agreement agreement;
  uint64_t positive = 0, negative = 0, missing_label = 0, other_label = 0;
  Separation separation;
};

struct Field {
  std::string name;
  std::variant<uint64_t, double> value;
  bool has_interval = false;
  double low = kNaN, high = kNaN;
};

struct Bound {
  std::string option, measure;
  double limit, measured;
  std::string why_undefined;
  bool is_least;
  bool met() const { return is_least ? measured >= limit : measured <= limit; }  // NaN never is
};

class Concord {
 public:
  explicit Concord(carbon_run* run) : run_(run) {}

  void declare(Options& options) {
    options.text("tags", "A,B",
                 "the INFO tags to compare; one for both of two files (default: the only ones with scores)",
                 tags_);
    options.text("label", "EXPR",
                 "which alleles are positive: clinvar, TAG, TAG=A,B/C,D (positive/negative) or TAG>NUMBER: "
                 "also compare AUROC and AUPRC",
                 label_text_);
    options.flag("negate", "for these, judge minus the scores of tags that are not of carbon", negate_);
    options.text("by", "type|TYPE|FILTER|TAG",
                 "also a line for each type of allele, FILTER or value of a tag", by_);
    options
        .number("bootstrap", "N", "samples for intervals, 0 for none", bootstrap_.replicates, uint64_t{0},
                uint64_t{1000000})
        .shows_default();
    options.number("seed", "N", "seed of the bootstrap samples", bootstrap_.seed, uint64_t{0})
        .shows_default();
    options
        .number("confidence", "SHARE", "confidence level of the intervals", bootstrap_.confidence, 0.0, 1.0)
        .shows_default();
    options.text("json", "FILE", "write the result as JSON as well", json_);
    const auto bound = [&](const char* name, const char* help, double& value, double least, double most) {
      options.number(name, "X", std::string("exit with 1 ") + help, value, least, most);
    };
    options.number("min-n", "N", "exit with 1 if fewer alleles have both scores", min_pairs_, uint64_t{1});
    bound("min-pearson", "if the Pearson correlation is lower", min_pearson_, -1, 1);
    bound("min-spearman", "if the Spearman correlation is lower", min_spearman_, -1, 1);
    bound("max-mean-diff", "if the mean |difference| is larger", max_mean_difference_, 0, kMost);
    bound("max-diff", "if a |difference| is larger", max_difference_, 0, kMost);
    bound("min-overlap-1", "if the lowest 1 % overlap less, 0 to 1", min_overlap_1_, 0, 1);
    bound("min-overlap-5", "if the lowest 5 % overlap less, 0 to 1", min_overlap_5_, 0, 1);
    bound("max-auroc-loss", "if B has an AUROC that is lower by more", max_loss_[0], -1, 1);
    bound("max-auprc-loss", "if B has an AUPRC that is lower by more", max_loss_[1], -1, 1);
    bound("max-average-precision-loss", "if B has an average precision that is lower by more", max_loss_[2],
          -1, 1);
    options.example("fail if bf16 changes the order of the variants too much",
                    "carbon +concord f32.bcf bf16.bcf -- --min-spearman 0.999");
    options.example("two recipes in one file, for each type of allele",
                    "carbon +concord both.bcf -- --tags CARBON_LLR,CARBON_NT --by TYPE");
  }

  void start() {
    read_names();
    check_type(run_->api->info_type(run_, tag_a_.c_str()), tag_a_, file_a_);
    if (!label_text_.empty())
      read_label();
    else if (negate_)
      fail("--negate is of use only with --label");
    for (size_t m = 0; m < Separation::kCount; ++m)
      if (label_text_.empty() && !std::isnan(max_loss_[m]))
        fail("--" + loss_option(m) + " needs --label, which says what is positive");
    if (!by_.empty()) strata_.emplace(run_, by_);
    results_.open(run_, json_);
    if (two_files())
      load();
    else
      check_type(run_->api->info_type(run_, tag_b_.c_str()), tag_b_, file_b_);
    choose_direction();
    warn_of_demonstration(run_);
  }

  void record(carbon_record* record) {
    const size_t alts = alt_count(run_, record);
    if (alts == 0) return;
    const std::vector<double> a = scores(record, tag_a_),
                              b = table_ ? std::vector<double>() : scores(record, tag_b_);
    const std::vector<uint32_t> strata = strata_ ? strata_->of(record) : std::vector<uint32_t>(alts);
    const std::vector<Verdict> verdicts =
        label_ ? judge(run_, record, *label_, words_) : std::vector<Verdict>(alts);
    for (size_t i = 0; i < alts; ++i) {
      const std::optional<double> in_b = table_ ? find(record, i) : b[i];
      if (strata[i] >= counts_.size()) counts_.resize(strata[i] + 1);
      Counts& counts = counts_[strata[i]];
      ++counts.alleles;
      if (!in_b)
        ++counts.only_a;
      else if (std::isnan(a[i]))
        ++(std::isnan(*in_b) ? counts.missing_both : counts.missing_a);
      else if (std::isnan(*in_b))
        ++counts.missing_b;
      else
        add({a[i], *in_b, strata[i]}, verdicts[i]);
    }
  }

  void finish() {
    Counts total;
    for (const Counts& counts : counts_)
      for (uint64_t Counts::*m :
           {&Counts::alleles, &Counts::only_a, &Counts::missing_a, &Counts::missing_b, &Counts::missing_both})
        total.*m += counts.*m;
    check_pairs(total);
    std::vector<Line> lines = {line("all", total, pairs_)};
    lines[0].only_b = table_ ? static_cast<double>(table_->left()) : 0;
    if (label_) check_labels(lines[0]);
    add_strata(lines);
    const std::vector<Bound> bounds = measured_bounds(lines[0]);
    results_.write(table(lines), [&] { return json(lines, bounds); });
    name_picture();
    for (const Bound& bound : bounds)
      if (!bound.met()) checked(run_->api->unmet(run_, complaint(bound).c_str()));
  }

 private:
  static constexpr double kMost = std::numeric_limits<double>::max();

  // ---- what is compared

  bool two_files() const { return run_->api->input(run_, 1) != nullptr; }

  void read_names() {
    const auto shown = [](const std::string& path) { return path == "-" ? "standard input" : path; };
    const std::string first = run_->api->input(run_, 0);
    const std::string second = two_files() ? run_->api->input(run_, 1) : first;
    if (run_->api->input(run_, 2)) fail("one or two input files are expected, not more");
    file_a_ = shown(first);
    file_b_ = shown(second);
    if (two_files()) records_b_ = checked(run_->api->records_open(run_, second.c_str()));
    if (tags_.empty()) tags_ = own_tags();
    const std::vector<std::string> tags = split(tags_, ',');
    if (tags.size() > 2 || tags.front().empty() || tags.back().empty())
      fail("--tags " + tags_ + ": expected two INFO tags, A,B, or one that both of two files have");
    tag_a_ = tags.front();
    tag_b_ = tags.back();
    if (!two_files() && tag_a_ == tag_b_)
      fail("--tags " + tags_ + ": of one file two different tags are compared, A,B; or name a second file");
  }
  /// The only two scores of one file, or the only one that both of two files have.
  std::string own_tags() const {
    ScoreTags found = score_tags(run_);
    if (two_files())
      std::erase_if(found.of_carbon, [&](const std::string& tag) { return !is_number(type_in_b(tag)); });
    std::vector<std::string>& tags = found.of_carbon;
    if (two_files() && tags.size() == 1) return tags[0];
    if (!two_files() && tags.size() == 2) return tags[0] + "," + tags[1];
    fail_without_tag("tags",
                     two_files() ? "name an INFO tag that both files have, or two, A,B"
                                 : "name two INFO tags of the file, A,B, or give a second file",
                     found);
  }
  int type_in_b(const std::string& tag) const {
    return checked(run_->api->records_info_type(run_, records_b_, tag.c_str()));
  }
  static bool is_number(int type) { return type == CARBON_TYPE_INTEGER || type == CARBON_TYPE_FLOAT; }
  std::string name_a() const { return two_files() ? tag_a_ + " of " + file_a_ : tag_a_; }
  std::string name_b() const { return two_files() ? tag_b_ + " of " + file_b_ : tag_b_; }

  static void check_type(int type, const std::string& tag, const std::string& file) {
    if (!is_number(checked(type)))
      fail("--tags: the header of " + file + " has no INFO tag " + tag + " that is a number");
  }

  void read_label() {
    label_ = parsed_label(label_text_);
    const int type = checked(run_->api->info_type(run_, label_->tag().c_str()));
    if (type == CARBON_TYPE_NONE)
      fail("--label " + label_text_ + ": the header of " + file_a_ + " has no INFO tag " + label_->tag());
    set_label_type(*label_, type);
  }

  /// The header of the first file also speaks for a tag of that name in the second.
  void choose_direction() {
    direction_a_ = direction_of(run_, tag_a_);
    direction_b_ = direction_of(run_, tag_b_);
    if (negate_ && direction_b_ != ScoreDirection::unknown) check_negate(tag_a_, direction_a_);
  }
  bool is_low(ScoreDirection direction) const {
    return direction == ScoreDirection::low || (negate_ && direction == ScoreDirection::unknown);
  }
  static bool is_high(ScoreDirection direction) { return direction == ScoreDirection::high; }
  bool low_a() const { return is_low(direction_a_); }
  bool low_b() const { return is_low(direction_b_); }
  void warn(const std::string& text) const { run_->api->message(run_, CARBON_WARNING, text.c_str()); }

  // ---- alleles

  /// A score or NaN for each ALT.
  std::vector<double> scores(const carbon_record* record, const std::string& tag) const {
    const carbon_values values = info(run_, record, tag);
    std::vector<double> out(alt_count(run_, record));
    for (size_t i = 0; i < out.size(); ++i) {
      out[i] = number_of(run_, record, values, tag, i).value_or(kNaN);
      if (std::isinf(out[i]))
        fail(place(run_, record) + ": " + tag +
             " is infinite, which has no correlation; leave the record out");
    }
    return out;
  }

  Allele allele(const carbon_record* record, size_t alt) const {
    return {run_->api->record_contig(run_, record), run_->api->record_pos(run_, record),
            allele_text(run_, record, 0), allele_text(run_, record, alt + 1)};
  }

  /// The whole second file.
  void load() {
    check_type(type_in_b(tag_b_), tag_b_, file_b_);
    table_.emplace();
    try {
      const carbon_record* record = nullptr;
      while (checked(run_->api->records_next(run_, records_b_, &record)) == 1) {
        const std::vector<double> values = scores(record, tag_b_);
        for (size_t i = 0; i < values.size(); ++i) {
          const Allele added = allele(record, i);
          if (table_->size() == 0) first_b_ = added.text();
          table_->add(added, values[i]);
        }
      }
    } catch (const Failure& failure) {
      fail(file_b_ + ": " + failure.reason);
    }
  }
  std::optional<double> find(const carbon_record* record, size_t alt) {
    const Allele wanted = allele(record, alt);
    const std::optional<double> found = table_->take(wanted);
    if (!found && first_unmatched_.empty()) first_unmatched_ = wanted.text();
    return found;
  }

  void add(ScorePair pair, const Verdict& verdict) {
    const bool judged = verdict.kind == Verdict::classed || verdict.kind == Verdict::value_only;
    pair.label = judged                             ? ScorePair::kClassed
                 : verdict.kind == Verdict::missing ? ScorePair::kMissing
                                                    : ScorePair::kOther;
    pair.positive = judged && is_positive(verdict);
    binary_ &= !judged || has_class(verdict);
    pairs_.push_back(pair);
  }

  // ---- what is found

  void check_pairs(const Counts& counts) const {
    if (!pairs_.empty()) return;
    if (counts.alleles == 0) fail(file_a_ + " has no alternative allele, so there is nothing to compare");
    if (counts.only_a == counts.alleles && !first_b_.empty())
      fail("no allele of " + file_a_ + " is in " + file_b_ + ": the first are " + first_unmatched_ + " and " +
           first_b_ +
           "; CHROM, POS, REF and ALT must be spelled equally (bcftools annotate --rename-chrs, "
           "bcftools norm)");
    const uint64_t without_a = counts.missing_a + counts.missing_both;
    const uint64_t without_b = counts.missing_b + counts.missing_both;
    fail("no allele has both " + name_a() + " and " + name_b() + ": of " + std::to_string(counts.alleles) +
         ", " + (two_files() ? std::to_string(counts.only_a) + " are not in " + file_b_ + ", " : "") +
         std::to_string(without_a) + " lack the first and " + std::to_string(without_b) + " the second");
  }

  Line line(const std::string& name, const Counts& counts, const std::vector<ScorePair>& pairs) const {
    Line out;
    out.name = name;
    out.counts = counts;
    out.pairs = pairs.size();
    out.agreement = agreement(pairs, is_high(direction_a_), is_high(direction_b_));
    if (!label_) return out;
    std::vector<ScorePair> classed;
    for (const ScorePair& pair : pairs) {
      if (pair.label == ScorePair::kClassed) classed.push_back(pair);
      out.missing_label += pair.label == ScorePair::kMissing;
      out.other_label += pair.label == ScorePair::kOther;
    }
    for (const ScorePair& pair : classed) ++(pair.positive ? out.positive : out.negative);
    if (binary_) out.separation = separation(classed, low_a(), low_b(), bootstrap_);
    return out;
  }

  void add_strata(std::vector<Line>& lines) const {
    if (!strata_) return;
    std::vector<std::vector<ScorePair>> parts(counts_.size());
    for (const ScorePair& pair : pairs_) parts[pair.stratum].push_back(pair);
    for (size_t s = 0; s < parts.size(); ++s)
      lines.push_back(line(strata_->names()[s], counts_[s], parts[s]));
  }

  void check_labels(const Line& all) const {
    check_words(run_, *label_, words_);
    if (all.positive + all.negative == 0)
      fail("no allele with both scores has a label: of " + std::to_string(all.pairs) + ", " +
           std::to_string(all.missing_label) + " lack it and " + std::to_string(all.other_label) +
           " have one of neither class");
    if (const std::string why = why_no_classes(all); !why.empty())
      warn(why + ": AUROC and AUPRC are undefined");
    const Comparison& auroc = all.separation.metrics[0];
    if (auroc.a < 0.5)
      warn(reversed_words(name_a(), to_text(auroc.a), low_a(), direction_a_ != ScoreDirection::unknown));
    if (auroc.b < 0.5)
      warn(reversed_words(name_b(), to_text(auroc.b), low_b(), direction_b_ != ScoreDirection::unknown));
  }
  std::string why_no_classes(const Line& all) const {
    if (!binary_) return label_->tag() + " has other values than 0 and 1, so there are no classes";
    if (all.positive > 0 && all.negative > 0) return "";
    return "all " + std::to_string(all.pairs - all.missing_label - all.other_label) +
           " labelled alleles are " + (all.positive > 0 ? "positive" : "negative");
  }
  std::string why_no_correlation() const {
    if (pairs_.size() == 1) return "only one allele has both scores";
    return (is_constant(pairs_, &ScorePair::a) ? name_a() : name_b()) + " has the same value for all " +
           std::to_string(pairs_.size()) + " alleles";
  }

  void name_picture() const {
    const std::string input = run_->api->input(run_, 0);
    if (!json_.empty())
      name_report(run_, shell_word(json_));
    else if (!two_files() && input != "-")
      name_report(run_, "--tags " + shell_word(tag_a_ + "," + tag_b_) + " " + shell_word(input));
  }

  // ---- bounds

  static std::string loss_option(size_t metric) {
    constexpr const char* names[] = {"max-auroc-loss", "max-auprc-loss", "max-average-precision-loss"};
    return names[metric];
  }

  /// Those that were asked for.
  std::vector<Bound> measured_bounds(const Line& all) const {
    const Agreement& found = all.agreement;
    const std::string overlap =
        "the overlap of the " + std::string(overlap_words(is_high(direction_a_), is_high(direction_b_)));
    const std::string constant = std::isnan(found.pearson) ? why_no_correlation() : "";
    std::vector<Bound> bounds = {
        {"min-n", "the number of alleles with both scores",
         min_pairs_ ? static_cast<double>(min_pairs_) : kNaN, static_cast<double>(all.pairs), "", true},
        {"min-pearson", "the Pearson correlation", min_pearson_, found.pearson, constant, true},
        {"min-spearman", "the Spearman correlation", min_spearman_, found.spearman, constant, true},
        {"max-mean-diff", "the mean |difference|", max_mean_difference_, found.mean_difference, "", false},
        {"max-diff", "the largest |difference|", max_difference_, found.largest_difference, "", false},
        {"min-overlap-1", overlap + " 1 %", min_overlap_1_, found.overlap_1, "", true},
        {"min-overlap-5", overlap + " 5 %", min_overlap_5_, found.overlap_5, "", true}};
    constexpr const char* losses[] = {"the loss of AUROC", "the loss of AUPRC",
                                      "the loss of average precision"};
    for (size_t m = 0; label_ && m < Separation::kCount; ++m)
      bounds.push_back({loss_option(m), losses[m], max_loss_[m],
                        all.separation.metrics[m].a - all.separation.metrics[m].b, why_no_classes(all),
                        false});
    std::erase_if(bounds, [](const Bound& bound) { return std::isnan(bound.limit); });
    return bounds;
  }

  static std::string complaint(const Bound& bound) {
    return "--" + bound.option + " " + to_text(bound.limit) + " is not met: " + bound.measure + " is " +
           (std::isnan(bound.measured) ? "undefined, as " + bound.why_undefined : to_text(bound.measured));
  }

  // ---- output

  std::vector<Field> fields(const Line& line) const {
    const Counts& counts = line.counts;
    const Agreement& found = line.agreement;
    const auto only_b =
        std::isnan(line.only_b) ? std::variant<uint64_t, double>(kNaN) : static_cast<uint64_t>(line.only_b);
    std::vector<Field> out = {{"alleles", counts.alleles},
                              {"n", line.pairs},
                              {"only_a", counts.only_a},
                              {"only_b", only_b},
                              {"missing_a", counts.missing_a},
                              {"missing_b", counts.missing_b},
                              {"missing_both", counts.missing_both},
                              {"pearson", found.pearson},
                              {"spearman", found.spearman},
                              {"mean_abs_diff", found.mean_difference},
                              {"max_abs_diff", found.largest_difference},
                              {"overlap_1", found.overlap_1},
                              {"overlap_5", found.overlap_5}};
    if (!label_) return out;
    const auto of_class = [&](uint64_t count) {
      return binary_ ? std::variant<uint64_t, double>(count) : kNaN;
    };
    out.insert(out.end(), {{"positive", of_class(line.positive)},
                           {"negative", of_class(line.negative)},
                           {"missing_label", line.missing_label},
                           {"other_label", line.other_label}});
    for (size_t m = 0; m < Separation::kCount; ++m) {
      const std::string name = Separation::kNames[m];
      const Comparison& metric = line.separation.metrics[m];
      out.insert(out.end(), {{name + "_a", metric.a},
                             {name + "_b", metric.b},
                             {name + "_diff", metric.difference, true, metric.low, metric.high}});
    }
    return out;
  }

  std::string table(const std::vector<Line>& lines) const {
    std::string out = "#stratum\tmetric\tvalue\tlow\thigh\n";
    for (const Line& line : lines)
      for (const Field& field : fields(line)) {
        const auto* count = std::get_if<uint64_t>(&field.value);
        out += line.name + "\t" + field.name + "\t" +
               (count ? std::to_string(*count) : to_text(std::get<double>(field.value))) + "\t" +
               to_text(field.low) + "\t" + to_text(field.high) + "\n";
      }
    return out;
  }

  void add_line(Json& out, const Line& line) const {
    out.open('{').name("name").value(line.name);
    for (const Field& field : fields(line)) {
      out.name(field.name);
      std::visit([&](auto value) { out.value(value); }, field.value);
      if (field.has_interval)
        out.name(field.name + "_low").value(field.low).name(field.name + "_high").value(field.high);
    }
    out.close('}');
  }

  std::string json(const std::vector<Line>& lines, const std::vector<Bound>& bounds) const {
    Json out;
    out.open('{');
    out.name("a").open('{').name("file").value(file_a_).name("tag").value(tag_a_).close('}');
    out.name("b").open('{').name("file").value(file_b_).name("tag").value(tag_b_).close('}');
    if (label_) {
      out.name("label").value(label_text_).name("negated").value(low_a() && low_b());
      out.name("bootstrap").value(bootstrap_.replicates).name("seed").value(bootstrap_.seed);
      out.name("confidence").value(bootstrap_.confidence);
    }
    out.name("all");
    add_line(out, lines[0]);
    if (strata_) {
      out.name("by").value(by_).name("strata").open('[');
      for (size_t i = 1; i < lines.size(); ++i) add_line(out, lines[i]);
      out.close(']');
    }
    out.name("bounds").open('[');
    for (const Bound& bound : bounds) {
      out.open('{').name("option").value("--" + bound.option).name("bound").value(bound.limit);
      out.name("value").value(bound.measured).name("met").value(bound.met()).close('}');
    }
    return out.close(']').close('}').text();
  }

  carbon_run* run_;
  std::string tags_, label_text_, by_, json_;
  Results results_;
  bool negate_ = false;
  ScoreDirection direction_a_ = ScoreDirection::unknown, direction_b_ = ScoreDirection::unknown;
  carbon_records* records_b_ = nullptr;  // of the second file
  BootstrapOptions bootstrap_;
  uint64_t min_pairs_ = 0;  // NaN below, and 0 here: no such bound
  double min_pearson_ = kNaN, min_spearman_ = kNaN, max_mean_difference_ = kNaN, max_difference_ = kNaN,
         min_overlap_1_ = kNaN, min_overlap_5_ = kNaN, max_loss_[Separation::kCount] = {kNaN, kNaN, kNaN};

  std::string file_a_, file_b_, tag_a_, tag_b_;
  std::optional<Label> label_;
  carbon::LabelWords words_;
  std::optional<Strata> strata_;
  std::optional<AlleleTable> table_;       // of the second file
  std::string first_b_, first_unmatched_;  // alleles, for the message that none was matched
  std::vector<Counts> counts_;             // by stratum
  std::vector<ScorePair> pairs_;
  bool binary_ = true;
};

}  // namespace

CARBON_PLUGIN(Concord, "how far two scores of the same variants agree",
              CARBON_READS_RECORDS | CARBON_READS_MORE)
