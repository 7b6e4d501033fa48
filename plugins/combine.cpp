// +combine: the mean of where an allele stands among the others by each of several scores.
//
// The file is read twice: a first time for the values of all alleles, a second time to write the records.
#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "plugins/alleles.hpp"
#include "plugins/strata.hpp"
#include "plugins/support.hpp"

namespace {

using namespace carbon_plugins;
using carbon::ScoreDirection;

/// A tag, and what makes its values comparable: of two, the larger is the more harmful.
struct Score {
  std::string tag, direction;
  std::vector<std::vector<double>> values = {};  // of each stratum, sorted

  double harm(double value) const {
    return direction == "low" ? -value : direction == "abs" ? std::abs(value) : value;
  }
  /// The share of the values of a stratum that are less harmful, of which equal ones count half: the average
  /// rank less 1/2, of n.
  double share(size_t stratum, double value) const {
    const std::vector<double>& all = values[stratum];
    const auto [first, last] = std::equal_range(all.begin(), all.end(), harm(value));
    return (static_cast<double>(first - all.begin()) + static_cast<double>(last - first) / 2) /
           static_cast<double>(all.size());
  }
};

class Combine {
 public:
  explicit Combine(carbon_run* run) : run_(run) {}

  void declare(Options& options) {
    options.text(
        "scores", "TAGS",
        "the INFO tags to combine, with commas, each followed by :high, :low or :abs, which says which "
        "of its values are the harmful ones (large, small, or large without their sign); tags of carbon "
        "need no such word; required",
        scores_text_);
    options.text(
        "by", "type|none|TYPE|FILTER|TAG",
        "compare alleles of the same type (default), all, or those of the same type, FILTER or value "
        "of a tag as in +concord",
        by_);
    options.text("tag", "NAME", "the tag that is written", name_).shows_default();
    options.example("the likelihood ratio together with conservation",
                    "carbon +combine -o ranks.bcf scored.bcf -- --scores CARBON_LLR,PHYLOP:high");
    options.example("two scores, among variants with the same consequence",
                    "carbon +combine in.vcf.gz -- --scores CARBON_LLR,CADD:high --by CONSEQUENCE --tag BOTH");
  }

  void start() {
    const std::string input = run_->api->input(run_, 0);
    if (input == "-")
      fail("standard input cannot be read twice, which ranks need; write it to a file and name that");
    for (const std::string& word : split(scores_text_, ',')) scores_.push_back(parsed(word));
    check_tag();
    strata_.emplace(run_, by_, true);
    read_values(input);
    declare_tags();
    warn_of_demonstration(run_);
  }

  void record(carbon_record* record) {
    const size_t alts = alt_count(run_, record);
    if (alts == 0) return;
    const std::vector<uint32_t> strata = strata_->of(record);
    std::vector<double> sums(alts), counts(alts);
    for (const Score& score : scores_) {
      const std::vector<double> values = values_of_alts(record, score);
      for (size_t i = 0; i < alts; ++i) {
        if (std::isnan(values[i])) continue;
        sums[i] += score.share(strata[i], values[i]);
        ++counts[i];
      }
    }
    for (size_t i = 0; i < alts; ++i) {
      ++alleles_;
      ranked_ += counts[i] > 0;
      sums[i] = counts[i] > 0 ? sums[i] / counts[i] : std::numeric_limits<double>::quiet_NaN();
    }
    checked(run_->api->info_set(run_, record, name_.c_str(), sums.data(), alts));
    checked(run_->api->info_set(run_, record, count_name().c_str(), counts.data(), alts));
  }

  void finish() {
    const std::string text = std::to_string(ranked_) + " of " + std::to_string(alleles_) +
                             (alleles_ == 1 ? " allele has" : " alleles have") + " a rank";
    run_->api->message(run_, ranked_ == alleles_ ? CARBON_INFO : CARBON_WARNING, text.c_str());
    if (by_ == "none") warn_of_indels(run_, indels_);
  }

 private:
  std::string count_name() const { return name_ + "_N"; }

  Score parsed(const std::string& word) const {
    const size_t colon = std::min(word.find(':'), word.size());
    const std::string tag = word.substr(0, colon), given = colon < word.size() ? word.substr(colon + 1) : "";
    if (tag.empty())
      fail(scores_text_.empty() ? "--scores is missing: name INFO tags, such as CARBON_LLR,PHYLOP:high"
                                : "--scores " + scores_text_ + ": a tag has no name");
    if (colon < word.size() && given != "high" && given != "low" && given != "abs")
      fail("--scores " + word + ": after the colon expected high, low or abs");
    const int type = checked(run_->api->info_type(run_, tag.c_str()));
    if (type != CARBON_TYPE_INTEGER && type != CARBON_TYPE_FLOAT)
      fail("--scores " + word + ": the header has no INFO tag " + tag + " that is a number");
    for (const Score& other : scores_)
      if (other.tag == tag) fail("--scores " + scores_text_ + ": " + tag + " is named twice");
    const ScoreDirection known = direction_of(run_, tag);
    if (known == ScoreDirection::unknown) {
      if (given.empty())
        fail("--scores " + tag + ": the header does not say which values are the harmful ones; write " + tag +
             ":high, " + tag + ":low, or " + tag + ":abs for large ones without their sign");
      return {tag, given};
    }
    const std::string own = known == ScoreDirection::low ? "low" : "high";
    if (!given.empty() && given != own)
      fail("--scores " + word + ": by the header the harmful values of " + tag + " are the " + own +
           " ones; leave out :" + given);
    return {tag, own};
  }

  void check_tag() const {
    if (name_.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.") !=
            std::string::npos ||
        (name_[0] >= '0' && name_[0] <= '9') || name_[0] == '.')
      fail("--tag " + name_ + ": expected letters, digits and _, which a VCF allows, and a letter first");
    for (const Score& score : scores_)
      if (score.tag == name_ || score.tag == count_name())
        fail("--tag " + name_ + ": " + score.tag + " is one of the scores; give another name");
    for_header_lines(run_, carbon::kCombineKey, [&](const char* line) {
      if (carbon::header_field(carbon::header_fields(line), "ID") == name_)
        fail("the input has ranks as " + name_ +
             " already: give another name with --tag, or remove them with bcftools annotate -x INFO/" +
             name_ + ",INFO/" + count_name() + " and their lines ##" + carbon::kCombineKey);
    });
  }

  /// A score or NaN for each ALT.
  std::vector<double> values_of_alts(const carbon_record* record, const Score& score) const {
    const carbon_values values = info(run_, record, score.tag);
    std::vector<double> out(alt_count(run_, record));
    for (size_t i = 0; i < out.size(); ++i)
      out[i] =
          number_of(run_, record, values, score.tag, i).value_or(std::numeric_limits<double>::quiet_NaN());
    return out;
  }

  void read_values(const std::string& input) {
    carbon_records* const records = checked(run_->api->records_open(run_, input.c_str()));
    const carbon_record* record = nullptr;
    while (checked(run_->api->records_next(run_, records, &record)) == 1) {
      const std::vector<uint32_t> strata = strata_->of(record);
      for (Score& score : scores_) {
        score.values.resize(strata_->names().size());
        const std::vector<double> values = values_of_alts(record, score);
        for (size_t i = 0; i < values.size(); ++i)
          if (!std::isnan(values[i])) score.values[strata[i]].push_back(score.harm(values[i]));
      }
      if (by_ == "none") count_indels(record);
    }
    for (Score& score : scores_)
      for (std::vector<double>& values : score.values) std::sort(values.begin(), values.end());
  }
  void count_indels(const carbon_record* record) {
    for (size_t i = 0; i < alt_count(run_, record); ++i) {
      const std::optional<size_t> type = rank_type_of(run_, record, i);
      indels_ += type && carbon::is_indel(*type);
    }
  }

  /// For the quotation marks of a header line.
  void declare_tags() const {
    std::string scores;
    for (const Score& score : scores_)
      scores += (scores.empty() ? "" : ",") + score.tag + ":" + score.direction;
    const auto line = [&](const std::string& text) {
      checked(run_->api->record_write(run_, nullptr, text.c_str()));
    };
    const std::string among = by_ == "none" ? "" : " of the same stratum (" + by_ + ")";
    checked(run_->api->info_declare(run_, name_.c_str(),
                                    ("Mean of the shares of alleles" + among + " that are less harmful by " +
                                     scores + "; 0 to 1, high = harmful")
                                        .c_str()));
    line("##INFO=<ID=" + count_name() + ",Number=A,Type=Integer,Description=\"How many scores " + name_ +
         " is the mean of\">");
    line(std::string("##") + carbon::kCombineKey + "=<ID=" + name_ + ",Scores=\"" + scores +
         "\",By=" + carbon::quoted_value(by_) + ">");
    size_t number = 0;  // newer releases of htslib keep one line of an ID
    for (const Score& score : scores_)
      for (size_t s = 0; s < score.values.size(); ++s)
        if (!score.values[s].empty())
          line(std::string("##") + carbon::kCombineKey + "Count=<ID=" + name_ + "." +
               std::to_string(++number) + ",Score=" + score.tag +
               ",Stratum=" + carbon::quoted_value(strata_->names()[s]) +
               ",Alleles=" + std::to_string(score.values[s].size()) + ">");
  }

  carbon_run* run_;
  std::string scores_text_, by_ = "type", name_ = "CARBON_RANKMEAN";
  std::vector<Score> scores_;
  std::optional<Strata> strata_;
  uint64_t alleles_ = 0, ranked_ = 0, indels_ = 0;
};

}  // namespace

CARBON_PLUGIN(Combine, "the mean rank of alleles by several scores",
              CARBON_READS_RECORDS | CARBON_WRITES_RECORDS)
