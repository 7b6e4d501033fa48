// Statistics that plugins and report share, against definitions written out.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <utility>

#include "src/statistics/agreement.hpp"
#include "src/statistics/allele_type.hpp"
#include "src/statistics/curves.hpp"
#include "src/statistics/label.hpp"
#include "src/statistics/ranking.hpp"
#include "src/statistics/split_mix.hpp"

using namespace carbon;

namespace {

struct Labelled {
  std::vector<float> scores;
  std::vector<bool> positive;
};

/// Few different scores, so that there are ties.
Labelled random_rows(size_t count, int different, double share, unsigned seed) {
  std::mt19937 random(seed);
  Labelled out;
  for (size_t i = 0; i < count; ++i) {
    out.positive.push_back(static_cast<double>(random()) < share * 4294967296.0);
    out.scores.push_back(
        static_cast<float>(static_cast<int>(random() % static_cast<unsigned>(different)) - different / 2) /
            8 +
        (out.positive.back() ? 0.5f : 0.0f));
  }
  return out;
}

std::vector<LabelledRow> as_rows(const Labelled& all, bool negate) {
  std::vector<LabelledRow> rows;
  for (size_t i = 0; i < all.scores.size(); ++i)
    rows.push_back({negate ? -double{all.scores[i]} : double{all.scores[i]}, 0, all.positive[i], 0});
  return rows;
}

/// (false positive rate, true positive rate, precision) of each threshold, from the definition.
struct Threshold {
  double fpr, tpr, precision;
};
std::vector<Threshold> thresholds_of(const Labelled& all, bool negate) {
  std::vector<float> different = all.scores;
  std::sort(different.begin(), different.end());
  different.erase(std::unique(different.begin(), different.end()), different.end());
  if (!negate) std::reverse(different.begin(), different.end());
  std::vector<Threshold> out;
  const auto positives = static_cast<double>(std::count(all.positive.begin(), all.positive.end(), true));
  const double negatives = static_cast<double>(all.scores.size()) - positives;
  for (const float threshold : different) {
    double tp = 0, fp = 0;
    for (size_t i = 0; i < all.scores.size(); ++i)
      if (negate ? all.scores[i] <= threshold : all.scores[i] >= threshold) (all.positive[i] ? tp : fp) += 1;
    out.push_back({fp / negatives, tp / positives, tp / (tp + fp)});
  }
  return out;
}

double between(double x, double x0, double y0, double x1, double y1) {
  return x1 == x0 ? std::max(y0, y1) : y0 + (y1 - y0) * (x - x0) / (x1 - x0);
}

/// The highest point of the line through (0, 0) and the thresholds above x.
double highest_tpr(const std::vector<Threshold>& thresholds, double x) {
  double best = 0, fpr = 0, tpr = 0;
  for (const Threshold& t : thresholds) {
    if (fpr <= x && x <= t.fpr) best = std::max(best, between(x, fpr, tpr, t.fpr, t.tpr));
    fpr = t.fpr, tpr = t.tpr;
  }
  return best;
}
double highest_precision(const std::vector<Threshold>& thresholds, double x) {
  if (x == 0) return 1;
  double recall = 0, precision = 1;
  for (const Threshold& t : thresholds) {
    if (recall < x && x <= t.tpr) return between(x, recall, precision, t.tpr, t.precision);
    recall = t.tpr, precision = t.precision;
  }
  return kNaN;
}

}  // namespace

TEST_CASE("SplitMix64 gives the published numbers") {
  SplitMix64 random(0);
  CHECK(random.next() == 0xE220A8397B1DCDAFu);
  CHECK(random.next() == 0x6E789E6AA1B965F4u);
  SplitMix64 other(7);
  for (int i = 0; i < 100; ++i) CHECK(other.below(3) < 3);
  CHECK(other.unit() < 1);
}

TEST_CASE("the type of an allele") {
  CHECK(std::string(allele_type("A", "C")) == "SNV");
  CHECK(std::string(allele_type("AAC", "AAT")) == "SNV");
  CHECK(std::string(allele_type("AC", "GT")) == "MNV");
  CHECK(std::string(allele_type("A", "AC")) == "INS");
  CHECK(std::string(allele_type("GAC", "GC")) == "DEL");
  CHECK(std::string(allele_type("GAC", "TT")) == "complex");
  for (const char* alt : {"A", "<DEL>", "*", "A[chr2:3[", "", "a"})
    CHECK(std::string(allele_type("A", alt)) == "other");
}

TEST_CASE("the type among which an allele is ranked") {
  const auto type = [](const std::string& ref, const std::string& alt) -> std::string {
    const std::optional<size_t> found = rank_type(ref, alt);
    return found ? kRankTypes[*found] : "none";
  };
  CHECK(type("A", "C") == "snv");
  CHECK(type("GAC", "GTC") == "snv");
  CHECK(type("AC", "GT") == "mnv");
  CHECK(type("ACG", "TCA") == "mnv");
  CHECK(type("GAC", "TT") == "other");
  CHECK(type("A", "A") == "other");
  const std::pair<int64_t, std::string> lengths[] = {
      {1, "1"},      {2, "2"},      {3, "3"},      {4, "4-6"},    {6, "4-6"},  {7, "7-12"},  {12, "7-12"},
      {13, "13-24"}, {24, "13-24"}, {25, "25-48"}, {48, "25-48"}, {49, "49+"}, {1000, "49+"}};
  for (const auto& [length, text] : lengths) {
    const std::string longer = "A" + std::string(static_cast<size_t>(length), 'C');
    CHECK(type("A", longer) == "ins:" + text);
    CHECK(type(longer, "A") == "del:" + text);
    CHECK(kRankTypes[*named_rank_type("<DEL>", length)] == "del:" + text);
    CHECK(kRankTypes[*named_rank_type("<DUP>", length)] == "ins:" + text);
    CHECK(kRankTypes[*named_rank_type("<DUP:TANDEM>", length)] == "ins:" + text);
    CHECK(*named_rank_type("<INV>", length) == kTypeMnv);
  }
  CHECK(named_rank_type("<DEL>", std::numeric_limits<int64_t>::max()));
  for (const char* alt : {"<DEL>", "*", "A[chr2:3[", "", "a", "N"}) CHECK(type("A", alt) == "none");
  CHECK(!named_rank_type("<DEL>", 0));
  CHECK(!named_rank_type("<INS>", 3));
  for (size_t i = 0; i < kRankTypeCount; ++i) {
    const std::string text = kRankTypes[i];
    CHECK(is_indel(i) == (text.starts_with("ins:") || text.starts_with("del:")));
  }
  CHECK(std::string(kRankTypes[kTypeOther]) == "other");
}

TEST_CASE("the bin of a score") {
  CHECK(histogram_bin("0.29") == 28);  // 100 * 0.29 is less than 29 in double
  CHECK(histogram_bin("-0.01") == -1);
  CHECK(histogram_bin("-1e-05") == -1);
  CHECK(histogram_bin("0") == 0);
  CHECK(histogram_bin("1e30") == 1'000'000'000'000'000);
  CHECK(histogram_bin("-inf") == -1'000'000'000'000'000);
}

TEST_CASE("expressions of labels") {
  const auto refused = [](const std::string& text) -> std::string {
    try {
      Label label(text);
    } catch (const LabelError& error) {
      return error.reason;
    }
    return "";
  };
  for (const char* text : {"", "=A", "X=", "X>", "X>two", "X=A,,B", "X=A/B/C", "X=/B", "X=A/", ">3"}) {
    CAPTURE(text);
    CHECK(refused(text).starts_with(std::string(text) + ":"));
  }

  Label words("SIG=Path\\,ogenic,P\\/LP/Benign");
  words.set_type(LabelType::text);
  CHECK(words.tag() == "SIG");
  const auto judged = [](const Label& label, std::vector<const char*> texts) {
    return label.judge_texts(texts.data(), texts.size());
  };
  CHECK(judged(words, {"Path,ogenic"}).positive);
  CHECK(judged(words, {"other", "P/LP"}).positive);
  CHECK(judged(words, {"Benign"}).kind == Verdict::classed);
  CHECK(!judged(words, {"Benign"}).positive);
  CHECK(judged(words, {"Benign", "P/LP"}).kind == Verdict::neither);
  CHECK(judged(words, {"unknown"}).kind == Verdict::neither);
  CHECK(judged(words, {nullptr}).kind == Verdict::missing);
  CHECK(judged(words, {}).kind == Verdict::missing);
  CHECK_THROWS_AS(words.set_type(LabelType::integer), LabelError);
  CHECK_THROWS_AS(words.set_type(LabelType::flag), LabelError);

  Label commas("SIG=a\\,b,c,_d/a,b");
  commas.set_type(LabelType::text);
  CHECK(judged(commas, {"a", "b"}).positive);
  CHECK(judged(commas, {"x", "a", "b", "y"}).positive);
  CHECK(judged(commas, {"c,_d"}).positive);
  CHECK(judged(commas, {"c"}).kind == Verdict::neither);
  CHECK(!judged(commas, {"b", "a"}).positive);
  CHECK(judged(commas, {"a", nullptr}).kind == Verdict::classed);
  CHECK(judged(commas, {nullptr, nullptr}).kind == Verdict::missing);

  Label rest("SIG=P");
  rest.set_type(LabelType::text);
  CHECK(judged(rest, {"anything"}).kind == Verdict::classed);

  Label below("AF<=0.1");
  below.set_type(LabelType::real);
  CHECK(below.judge_numbers(double{0.1f}).positive);  // compared as the file has it
  CHECK(!below.judge_numbers(0.2).positive);
  CHECK(below.judge_numbers(kNaN).kind == Verdict::missing);
  CHECK(below.judge_numbers(std::nullopt).kind == Verdict::missing);
  CHECK_THROWS_AS(below.set_type(LabelType::text), LabelError);
  CHECK(Label("N!=3").judge_numbers(2).positive);
  CHECK(!Label("N==3").judge_numbers(2).positive);
  CHECK(Label("N>=3").judge_numbers(3).positive);

  Label alone("L");
  alone.set_type(LabelType::integer);
  CHECK(is_positive(alone.judge_numbers(1)));
  CHECK(!is_positive(alone.judge_numbers(0)));
  CHECK(has_class(alone.judge_numbers(0)));
  CHECK(!has_class(alone.judge_numbers(2)));
  alone.set_type(LabelType::flag);
  CHECK(alone.is_flag());
}

TEST_CASE("groups of scores, their areas, and curves at rates are what the definitions say") {
  for (unsigned seed = 0; seed < 40; ++seed) {
    const Labelled all = random_rows(5 + seed * 7, 3 + static_cast<int>(seed) * 2, 0.4, seed);
    for (const bool negate : {false, true}) {
      CAPTURE(seed);
      CAPTURE(negate);
      const ScoreGroups groups(all.scores, all.positive, negate);
      const ClassMetrics metrics = class_metrics(groups.counts());
      CHECK(groups.positives() == metrics.positive);
      CHECK(groups.negatives() == metrics.negative);
      const std::vector<LabelledRow> rows = as_rows(all, negate);
      const ClassMetrics wanted = class_metrics(rows, order_by(rows, &LabelledRow::score, std::greater<>()),
                                                Weights(rows.size(), 1), &LabelledRow::score);
      REQUIRE(metrics.defined() == wanted.defined());
      if (!metrics.defined()) continue;
      for (size_t m = 0; m < 3; ++m) CHECK(metrics.values[m] == wanted.values[m]);

      const std::vector<Threshold> thresholds = thresholds_of(all, negate);
      REQUIRE(groups.size() == thresholds.size());
      double auroc = 0, auprc = 0, steps = 0;
      Threshold last{0, 0, 1};
      for (const Threshold& t : thresholds) {
        auroc += (t.fpr - last.fpr) * (t.tpr + last.tpr) / 2;
        auprc += (t.tpr - last.tpr) * (t.precision + last.precision) / 2;
        steps += (t.tpr - last.tpr) * t.precision;
        last = t;
      }
      CHECK(metrics.values[0] == doctest::Approx(auroc).epsilon(1e-12));
      CHECK(metrics.values[1] == doctest::Approx(auprc).epsilon(1e-12));
      CHECK(metrics.values[2] == doctest::Approx(steps).epsilon(1e-12));
      const Rates tpr = true_positive_rates(groups.counts(), metrics),
                  precision = precisions(groups.counts(), metrics);
      for (size_t k = 0; k < kRates; ++k) {
        CHECK(tpr[k] == doctest::Approx(highest_tpr(thresholds, rate_at(k))).epsilon(1e-9));
        CHECK(precision[k] == doctest::Approx(highest_precision(thresholds, rate_at(k))).epsilon(1e-9));
      }
      for (size_t row = 0; row < rows.size(); ++row) {
        CHECK(groups.threshold(groups.place(row) / 2) == all.scores[row]);
        CHECK(groups.place(row) % 2 == !all.positive[row]);
      }
    }
  }
}

TEST_CASE("joined groups keep all rows and hardly change the areas") {
  for (const double share : {0.5, 0.01, 0.99}) {
    CAPTURE(share);
    const Labelled all = random_rows(60000, 1 << 20, share, 3);
    const ScoreGroups groups(all.scores, all.positive, false), joined = groups.joined();
    CHECK(groups.size() > 30000);
    CHECK(joined.size() <= ScoreGroups::kMostJoined);
    CHECK(joined.size() > 500);
    CHECK(joined.rows() == groups.rows());
    CHECK(joined.positives() == groups.positives());
    CHECK(joined.negatives() == groups.negatives());
    std::vector<uint32_t> counted(joined.counts().size());
    for (size_t row = 0; row < joined.rows(); ++row) ++counted[joined.place(row)];
    CHECK(std::equal(counted.begin(), counted.end(), joined.counts().begin()));
    const ClassMetrics fine = class_metrics(groups.counts()), coarse = class_metrics(joined.counts());
    CHECK(coarse.values[0] == doctest::Approx(fine.values[0]).epsilon(1e-4));
    CHECK(coarse.values[1] == doctest::Approx(fine.values[1]).epsilon(3e-3));
    CHECK(coarse.values[2] == doctest::Approx(fine.values[2]).epsilon(3e-3));
  }
}

TEST_CASE("intervals are percentiles over the samples of +auroc") {
  const Labelled all = random_rows(300, 60, 0.3, 11);
  for (const bool negate : {false, true}) {
    const ScoreGroups groups(all.scores, all.positive, negate);
    const CurveIntervals found = CurveBootstrap::intervals(groups, 200, 5, 0.95);
    CHECK(found.samples == 200);
    CHECK(!found.joined);
    const std::vector<LabelledRow> rows = as_rows(all, negate);
    const std::vector<uint32_t> order = order_by(rows, &LabelledRow::score, std::greater<>());
    std::vector<double> areas[3], tpr[kRates], precision[kRates];
    Weights weights(rows.size());
    SplitMix64 random(5);
    for (int sample = 0; sample < 200; ++sample) {
      resample(weights, random);
      const ClassMetrics one = class_metrics(rows, order, weights, &LabelledRow::score);
      for (size_t m = 0; m < 3; ++m) areas[m].push_back(one.values[m]);
      Labelled drawn;
      for (size_t i = 0; i < weights.size(); ++i)
        for (uint32_t w = 0; w < weights[i]; ++w)
          drawn.scores.push_back(all.scores[i]), drawn.positive.push_back(all.positive[i]);
      const std::vector<Threshold> thresholds = thresholds_of(drawn, negate);
      for (size_t k = 0; k < kRates; k += 10) {
        tpr[k].push_back(highest_tpr(thresholds, rate_at(k)));
        precision[k].push_back(highest_precision(thresholds, rate_at(k)));
      }
    }
    for (size_t m = 0; m < 3; ++m) {
      std::sort(areas[m].begin(), areas[m].end());
      CHECK(found.low[m] == quantile(areas[m], (1 - 0.95) / 2));
      CHECK(found.high[m] == quantile(areas[m], (1 + 0.95) / 2));
    }
    for (size_t k = 0; k < kRates; k += 10) {
      std::sort(tpr[k].begin(), tpr[k].end());
      std::sort(precision[k].begin(), precision[k].end());
      CHECK(found.roc_low[k] == doctest::Approx(quantile(tpr[k], 0.025)).epsilon(1e-6));
      CHECK(found.roc_high[k] == doctest::Approx(quantile(tpr[k], 0.975)).epsilon(1e-6));
      CHECK(found.precision_low[k] == doctest::Approx(quantile(precision[k], 0.025)).epsilon(1e-6));
      CHECK(found.precision_high[k] == doctest::Approx(quantile(precision[k], 0.975)).epsilon(1e-6));
    }
  }
}

TEST_CASE("intervals of many rows come from joined groups of the same samples") {
  const Labelled all = random_rows(CurveBootstrap::kExactRows + 1, 1 << 20, 0.2, 2);
  const ScoreGroups groups(all.scores, all.positive, false);
  const CurveIntervals found = CurveBootstrap::intervals(groups, 30, 1, 0.95);
  CHECK(found.joined);
  CHECK(found.groups <= ScoreGroups::kMostJoined);
  const std::vector<LabelledRow> rows = as_rows(all, false);
  const std::vector<uint32_t> order = order_by(rows, &LabelledRow::score, std::greater<>());
  std::vector<double> areas[3];
  Weights weights(rows.size());
  SplitMix64 random(1);
  for (int sample = 0; sample < 30; ++sample) {
    resample(weights, random);
    const ClassMetrics one = class_metrics(rows, order, weights, &LabelledRow::score);
    for (size_t m = 0; m < 3; ++m) areas[m].push_back(one.values[m]);
  }
  for (size_t m = 0; m < 3; ++m) {
    std::sort(areas[m].begin(), areas[m].end());
    CHECK(found.low[m] == doctest::Approx(quantile(areas[m], 0.025)).epsilon(m == 0 ? 1e-4 : 3e-3));
    CHECK(found.high[m] == doctest::Approx(quantile(areas[m], 0.975)).epsilon(m == 0 ? 1e-4 : 3e-3));
  }
}

TEST_CASE("samples of one class do not count") {
  const std::vector<float> scores = {1, 2, 3};
  const std::vector<bool> positive = {false, true, false};
  const CurveIntervals found = CurveBootstrap::intervals(ScoreGroups(scores, positive, false), 500, 0, 0.95);
  SplitMix64 random(0);
  Weights weights(3);
  uint64_t both = 0;
  for (int sample = 0; sample < 500; ++sample) {
    resample(weights, random);
    both += weights[1] > 0 && weights[1] < 3;
  }
  CHECK(found.samples == both);
  CHECK(both < 400);
  CHECK(CurveBootstrap::intervals(ScoreGroups(scores, positive, false), 0, 0, 0.95).samples == 0);
}

TEST_CASE("agreement of scores") {
  struct Both {
    double a, b;
  };
  const std::vector<Both> pairs = {{1, 2}, {2, 1}, {3, 4}, {4, 3}};
  const Agreement found = agreement(pairs);
  CHECK(found.pearson == doctest::Approx(0.6).epsilon(1e-12));
  CHECK(found.spearman == doctest::Approx(0.6).epsilon(1e-12));
  CHECK(found.mean_difference == 1);
  CHECK(found.largest_difference == 1);
  CHECK(found.overlap_1 == 0);
  CHECK(std::isnan(agreement(std::vector<Both>{{1, 1}, {1, 2}}).pearson));
  CHECK(std::isnan(agreement(std::vector<Both>{}).mean_difference));
}
