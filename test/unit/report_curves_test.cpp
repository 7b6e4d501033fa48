// The figures of labels and of the agreement of scores: the numbers they show, and what they do with hostile
// and with empty input.
#include <doctest/doctest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <random>

#include "src/base/error.hpp"
#include "src/report/drawing/plot.hpp"
#include "src/report/sections/sections.hpp"
#include "src/report/sections/variant_parts.hpp"
#include "src/report/sources/summaries.hpp"
#include "src/statistics/agreement.hpp"
#include "src/statistics/curves.hpp"
#include "test/unit/genome_files.hpp"

using namespace carbon;
using namespace carbon_test;

namespace {

const std::string kHead =
    "##fileformat=VCFv4.2\n##contig=<ID=1,length=1000>\n"
    "##INFO=<ID=A,Number=A,Type=Integer,Description=\"of alleles\">\n"
    "##INFO=<ID=R,Number=R,Type=Float,Description=\"of all alleles\">\n"
    "##INFO=<ID=ONE,Number=1,Type=Integer,Description=\"of the record\">\n"
    "##INFO=<ID=MANY,Number=.,Type=Integer,Description=\"of who knows what\">\n"
    "##INFO=<ID=SIG,Number=.,Type=String,Description=\"words\">\n"
    "##INFO=<ID=F,Number=0,Type=Flag,Description=\"flag\">\n"
    "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n";

using Judged = LabelJudge::Verdict;

/// The verdicts of a record with two ALTs.
std::vector<Judged> judged(const std::string& expression, const std::string& info) {
  const TemporaryDirectory directory;
  VcfReader reader(directory.put("in.vcf", kHead + "1\t10\t.\tA\tC,G\t.\t.\t" + info + "\n"));
  LabelJudge judge("in.vcf", expression, reader);
  VcfRecord record;
  REQUIRE(reader.next(record));
  return {judge.judge(reader, record, 0), judge.judge(reader, record, 1)};
}

std::string refusal(const std::string& expression, const std::string& info) {
  try {
    judged(expression, info);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

std::vector<const Figure*> figures(const Section& section) {
  std::vector<const Figure*> out;
  for (const auto& part : section.parts)
    if (const auto* figure = std::get_if<Figure>(&part)) out.push_back(figure);
  return out;
}

const Table& last_table(const Section& section) {
  REQUIRE(!section.parts.empty());
  return std::get<Table>(section.parts.back());
}

/// Every figure is complete, and its texts are the same as before.
void check_figures(const Section& section, const std::string& name) {
  for (const Figure* figure : figures(section)) {
    CAPTURE(figure->name);
    CHECK(figure->name.starts_with(name + "_"));
    CHECK(!figure->title.empty());
    CHECK(figure->caption.ends_with("."));
    CHECK(figure->words.ends_with("."));
    CHECK(figure->svg.starts_with("<svg "));
    CHECK(figure->svg.ends_with("</svg>"));
    CHECK(figure->svg.find("nan") == std::string::npos);
    CHECK(figure->svg.find("inf") == std::string::npos);
    CHECK(figure->svg.size() < 300000);
    CHECK(!figure->numbers.rows.empty());
    CHECK(figure->numbers.rows.size() <= 500);
    for (const auto& row : figure->numbers.rows) CHECK(row.size() == figure->numbers.columns.size());
    const auto plot = nlohmann::json::parse(figure->multiqc);
    CHECK(plot.contains("plot_type"));
    CHECK(plot["pconfig"].contains("id"));
    CHECK(!plot["data"].empty());
  }
}

LabelledScores random_labels(size_t count, unsigned seed) {
  std::mt19937 random(seed);
  LabelledScores out;
  for (size_t i = 0; i < count; ++i) {
    out.positive.push_back(random() % 3 == 0);
    out.scores.push_back(static_cast<float>(random() % 1000) / 50 - (out.positive.back() ? 4.0f : 0.0f));
  }
  return out;
}

ReportOptions label_options() {
  ReportOptions options;
  options.label = "SIG=P/B";
  options.negate = true;
  options.bootstrap = 50;
  return options;
}

const char* const kConcordance = R"({"a": {"file": "x.bcf", "tag": "S"}, "b": {"file": "y.bcf", "tag": "S"},
  "label": "L", "negated": true, "bootstrap": 100, "seed": 3, "confidence": 0.9,
  "all": {"name": "all", "alleles": 10, "n": 8, "only_a": 1, "only_b": 2, "missing_a": 1, "missing_b": 0, "missing_both": 0,
    "pearson": 0.9, "spearman": -0.5, "mean_abs_diff": 0.25, "max_abs_diff": 1e10, "overlap_1": 1, "overlap_5": 0.5,
    "positive": 4, "negative": 3, "missing_label": 1, "other_label": 0,
    "auroc_a": 0.75, "auroc_b": 0.8125, "auroc_diff": 0.0625, "auroc_diff_low": -0.1, "auroc_diff_high": 0.2,
    "auprc_a": 0.7, "auprc_b": 0.8, "auprc_diff": 0.1, "auprc_diff_low": null, "auprc_diff_high": null,
    "average_precision_a": 0.7, "average_precision_b": 0.8, "average_precision_diff": 0.1,
    "average_precision_diff_low": null, "average_precision_diff_high": null},
  "bounds": [{"option": "--min-pearson", "bound": 0.5, "value": 0.9, "met": true},
             {"option": "--min-<b>", "bound": 0.5, "value": null, "met": false}]})";

}  // namespace

TEST_CASE("labels of alleles in records") {
  const std::vector<Judged> both = {Judged::positive, Judged::negative};
  CHECK(judged("A", "A=1,0") == both);
  CHECK(judged("A>2", "A=3,2") == both);
  CHECK(judged("R>0.5", "R=0,0.75,0.5") == both);
  CHECK(judged("ONE", "ONE=1") == std::vector<Judged>(2, Judged::positive));
  CHECK(judged("A", "A=1,.") == std::vector<Judged>{Judged::positive, Judged::missing});
  CHECK(judged("A", "A=.") == std::vector<Judged>(2, Judged::missing));
  CHECK(judged("A", "ONE=3") == std::vector<Judged>(2, Judged::missing));
  CHECK(judged("SIG=P,LP/B", "SIG=x,LP") == std::vector<Judged>(2, Judged::positive));
  CHECK(judged("SIG=P,LP/B", "SIG=P,B") == std::vector<Judged>(2, Judged::other));
  CHECK(judged("SIG=P,LP/B", "SIG=VUS") == std::vector<Judged>(2, Judged::other));
  CHECK(judged("SIG=P", "SIG=.") == std::vector<Judged>(2, Judged::missing));
  CHECK(judged("F", "F") == std::vector<Judged>(2, Judged::positive));
  CHECK(judged("F", "ONE=1") == std::vector<Judged>(2, Judged::negative));

  CHECK(refusal("A=", "A=1,0").find("expected TAG, TAG=A,B/C,D, TAG>NUMBER or clinvar") != std::string::npos);
  CHECK(refusal("NO", "A=1,0").find("the header has no INFO tag NO") != std::string::npos);
  CHECK(refusal("SIG", "SIG=x").find("SIG is text") != std::string::npos);
  CHECK(refusal("F>1", "F").find("F is a flag") != std::string::npos);
  CHECK(refusal("A=x", "A=1,0").find("'x' is none") != std::string::npos);
  CHECK(refusal("A", "A=2,0").starts_with("1:10: A is neither 0 nor 1"));
  CHECK(refusal("MANY>1", "MANY=1,2").starts_with("1:10: MANY has 2 values"));
  CHECK(refusal("R>1", "R=1,2").starts_with("1:10: 2 values of R for 2 alternative alleles"));
  CHECK(refusal("X\n<script>", "F").find('\n') == std::string::npos);
}

TEST_CASE("the figures of labels show the numbers of +auroc") {
  const LabelledScores all = random_labels(700, 4);
  Section section;
  add_label_figures("file_S", "S", all, label_options(), section);
  check_figures(section, "file_S");
  REQUIRE(figures(section).size() == 3);
  const ScoreGroups groups(all.scores, all.positive, true);
  const ClassMetrics metrics = class_metrics(groups.counts());
  const CurveIntervals intervals = CurveBootstrap::intervals(groups, 50, 0, 0.95);
  const Table& areas = last_table(section);
  for (size_t m = 0; m < 3; ++m) {
    CHECK(areas.rows[m][1] == six_digits(metrics.values[m]));
    CHECK(areas.rows[m][2] == six_digits(intervals.low[m]));
    CHECK(areas.rows[m][3] == six_digits(intervals.high[m]));
  }
  CHECK(areas.rows[3][1] == std::to_string(metrics.positive));
  CHECK(areas.rows[4][1] == std::to_string(metrics.negative));

  // The histogram, bin by bin; the last one has its upper edge.
  uint64_t counted[2] = {0, 0};
  const Table& histogram = figures(section)[0]->numbers;
  for (size_t bin = 0; bin < histogram.rows.size(); ++bin) {
    const double from = std::stod(histogram.rows[bin][0]), to = std::stod(histogram.rows[bin][1]);
    uint64_t inside[2] = {0, 0};
    for (size_t i = 0; i < all.scores.size(); ++i)
      if (all.scores[i] >= from &&
          (all.scores[i] < to || (bin + 1 == histogram.rows.size() && all.scores[i] == to)))
        ++inside[all.positive[i]];
    CHECK(histogram.rows[bin][2] == std::to_string(inside[1]));
    CHECK(histogram.rows[bin][4] == std::to_string(inside[0]));
    counted[0] += inside[0], counted[1] += inside[1];
  }
  CHECK(counted[1] == metrics.positive);
  CHECK(counted[0] == metrics.negative);

  // A threshold of the ROC table has a false positive rate up to that of its row, and the next score a higher
  // one.
  const Table& roc = figures(section)[1]->numbers;
  REQUIRE(roc.rows.size() == kRates);
  for (size_t k = 10; k < kRates; k += 10) {
    const double threshold = std::stod(roc.rows[k][4]);
    double tp = 0, fp = 0;
    for (size_t i = 0; i < all.scores.size(); ++i)
      if (all.scores[i] <= threshold + 1e-6) (all.positive[i] ? tp : fp) += 1;
    CHECK(fp / static_cast<double>(metrics.negative) <= rate_at(k));
    CHECK(tp / static_cast<double>(metrics.positive) <= std::stod(roc.rows[k][1]) + 1e-6);
    CHECK(std::stod(roc.rows[k][2]) <= std::stod(roc.rows[k][3]));
  }

  Section again;
  add_label_figures("file_S", "S", all, label_options(), again);
  for (size_t i = 0; i < 3; ++i) CHECK(figures(again)[i]->svg == figures(section)[i]->svg);
}

TEST_CASE("a threshold reads back as the score that it is") {
  LabelledScores all;  // which six digits do not tell apart
  for (float score = -3.1234567f; all.scores.size() < 10; score = std::nextafter(score, 0.0f)) {
    all.positive.push_back(all.scores.size() < 5);
    all.scores.push_back(score);
  }
  Section section;
  add_label_figures("f", "S", all, label_options(), section);
  const auto part = std::find_if(section.parts.begin(), section.parts.end(), [](const auto& one) {
    const auto* table = std::get_if<Table>(&one);
    return table && table->title.starts_with("Thresholds of S: an allele counts as positive");
  });
  REQUIRE(part != section.parts.end());
  const Table& table = std::get<Table>(*part);
  CHECK(table.columns[0].number);
  for (const std::vector<std::string>& row : table.rows) {
    CAPTURE(row[0]);
    const auto found = std::count_if(all.scores.begin(), all.scores.end(),
                                     [&](float score) { return score <= std::stof(row[0]); });
    CHECK(found == std::stol(row[4]) + std::stol(row[5]));
  }
}

TEST_CASE("the caption of several curves ends with its last sentence") {
  for (const uint64_t samples : {0, 20}) {
    ReportOptions options = label_options();
    options.bootstrap = samples;
    Section section;
    const auto curve = add_label_figures("f", "S", random_labels(60, 4), options, section);
    REQUIRE(curve);
    for (const size_t count : {2, 9})
      CHECK(roc_overlay("f", "L", std::vector<RocCurve>(count, *curve)).caption.ends_with("."));
  }
}

TEST_CASE("labels without two classes are a paragraph, and hostile texts are text") {
  for (const bool positive : {false, true}) {
    Section section;
    LabelledScores one;
    one.scores = {1, 2};
    one.positive = {positive, positive};
    one.other_label = 7;
    add_label_figures("f", "S", one, label_options(), section);
    CHECK(section.parts.empty());
    REQUIRE(section.paragraphs.size() == 1);
    CHECK(section.paragraphs[0].find(positive ? "are positive" : "are negative") != std::string::npos);
    CHECK(section.paragraphs[0].find("7 have a label of neither class") != std::string::npos);
  }
  Section nothing;
  add_label_figures("f", "S", {}, label_options(), nothing);
  CHECK(nothing.parts.empty());
  CHECK(nothing.paragraphs.size() == 1);

  // Equal scores, no samples, few rows.
  LabelledScores odd;
  odd.scores = {1, 1, 2, -2};
  odd.positive = {true, false, true, false};
  ReportOptions options = label_options();
  options.bootstrap = 0;
  options.label = "<script>alert(1)</script>";
  Section section;
  add_label_figures("f", "<b>&", odd, options, section);
  check_figures(section, "f");
  for (const Figure* figure : figures(section)) {
    CHECK(figure->svg.find("<script") == std::string::npos);
    CHECK(figure->svg.find("<b>") == std::string::npos);
  }
  CHECK(last_table(section).rows[0][2] == ".");
}

namespace {

ScoreTag tag(const std::string& name, bool high = false) {
  ScoreTag out;
  out.name = name;
  out.high = high;
  return out;
}

}  // namespace

TEST_CASE("overlaps are those of the damaging ends of both scores") {
  std::vector<ScorePair> pairs(200);
  for (size_t i = 0; i < pairs.size(); ++i) {
    pairs[i].a = static_cast<double>(i);
    pairs[i].b = -static_cast<double>(i * i);
  }
  CHECK(agreement(pairs).overlap_5 == 0);
  CHECK(agreement(pairs, true, false).overlap_5 == 1);
  CHECK(agreement(pairs, false, true).overlap_1 == 1);
  CHECK(agreement(pairs, true, true).overlap_1 == 0);
  AgreementFigures drawn;
  for (const ScorePair& pair : pairs) drawn.add(pair.a, pair.b);
  Section section;
  drawn.finish("f", tag("A", true), tag("B"), section);
  const Table& measures = last_table(section);
  CHECK(measures.rows.back() == std::vector<std::string>{"Overlap of the highest and lowest 5 %", "1"});
}

TEST_CASE("scatter and Bland-Altman plot") {
  std::mt19937 random(1);
  for (const size_t count : {size_t{2}, size_t{400}, size_t{3000}, size_t{20000}}) {
    CAPTURE(count);
    AgreementFigures drawn;
    std::vector<ScorePair> pairs;
    for (size_t i = 0; i < count; ++i) {
      ScorePair pair;
      pair.a = static_cast<double>(random() % 2000) / 100 - 10;
      pair.b = pair.a / 2 + static_cast<double>(random() % 300) / 100;
      pairs.push_back(pair);
      drawn.add(pair.a, pair.b);
    }
    Section section;
    drawn.finish("file_A_B", tag("A"), tag("B"), section);
    check_figures(section, "file_A_B");
    REQUIRE(figures(section).size() == 2);
    const Agreement found = agreement(pairs);
    double mean = 0, squares = 0;
    for (const ScorePair& pair : pairs) mean += (pair.b - pair.a) / static_cast<double>(count);
    for (const ScorePair& pair : pairs) squares += (pair.b - pair.a - mean) * (pair.b - pair.a - mean);
    const double deviation = std::sqrt(squares / static_cast<double>(count - 1));
    const Table& measures = last_table(section);
    const double wanted[] = {static_cast<double>(count),
                             found.pearson,
                             found.spearman,
                             mean,
                             deviation,
                             mean - 1.96 * deviation,
                             mean + 1.96 * deviation,
                             found.mean_difference,
                             found.largest_difference};
    for (size_t i = 0; i < std::size(wanted); ++i)
      CHECK(std::stod(measures.rows[i][1]) == doctest::Approx(wanted[i]).epsilon(2e-6));
    if (count <= kMostRows) {
      CHECK(figures(section)[0]->numbers.rows.size() == count);
      CHECK(figures(section)[0]->numbers.rows[1] ==
            std::vector<std::string>{six_digits(pairs[1].a), six_digits(pairs[1].b)});
    } else {
      for (const Figure* figure : figures(section)) {
        uint64_t total = 0;
        for (const auto& row : figure->numbers.rows) total += std::stoull(row[4]);
        CHECK(total == count);
      }
    }
    CHECK((figures(section)[0]->svg.find("alleles</text>") != std::string::npos) == (count > kMostDots));
  }
}

TEST_CASE("an allele that two files have many times is paired as often, in order") {
  VariantLayout layout;
  layout.tags.push_back(tag("S"));
  VariantComparison files;
  VariantRecord record;
  record.contig = "1", record.pos = 7, record.ref = "A", record.alts = {"C"};
  for (const size_t count : {200'000, 200'001}) {
    files.next_file(count == 200'000 ? "a" : "b");
    files.begin(layout);
    for (size_t i = 0; i < count; ++i) {
      record.scores = {{static_cast<float>(i % 1000)}};
      files.add(record);
    }
  }
  Section section;
  files.finish("", section);
  REQUIRE(section.paragraphs.size() == 1);
  CHECK(section.paragraphs[0].starts_with(
      "200,000 alleles have a score in both a (of 200,000 with a score) and b (of 200,001). "));
  CHECK(last_table(section).rows[8] == std::vector<std::string>{"Largest absolute difference", "0"});
}

TEST_CASE("too few pairs, equal scores") {
  AgreementFigures one;
  one.add(1, 2);
  Section section;
  one.finish("f", tag("A"), tag("B"), section);
  CHECK(section.parts.empty());
  CHECK(section.paragraphs.size() == 1);

  AgreementFigures same;
  for (int i = 0; i < 5; ++i) same.add(3, 3);
  Section drawn;
  same.finish("f", tag("<i>A</i>"), tag("B"), drawn);
  check_figures(drawn, "f");
  CHECK(figures(drawn)[0]->caption.find("there is no correlation") != std::string::npos);
  CHECK(figures(drawn)[0]->svg.find("<i>") == std::string::npos);
  CHECK(last_table(drawn).rows[1][1] == ".");
}

TEST_CASE("the section of a concordance") {
  const TemporaryDirectory directory;
  const std::string path = directory.put("c.json", kConcordance);
  const Section section = concordance_section("c", path, {});
  check_figures(section, "c");
  CHECK(figures(section).size() == 3);
  const Table& table = last_table(section);
  REQUIRE(table.rows.size() == 1);
  const ConcordanceFile file = read_concordance(path);
  size_t column = 0;
  for (size_t i = 0; i < concordance_fields().size(); ++i) {
    const double value = file.lines[0].values[i];
    if (std::isnan(value)) continue;  // a field that no stratum has is no column
    ++column;
    REQUIRE(column < table.columns.size());
    CHECK(table.columns[column].name == concordance_fields()[i].name);
    CHECK(table.rows[0][column] == six_digits(value));
  }
  CHECK(table.columns.size() == column + 1);
  CHECK(section.paragraphs.back() == "1 of 2 bounds are not met.");
  CHECK(figures(section)[1]->words.find("0.75 for S of x.bcf and 0.8125 for S of y.bcf") !=
        std::string::npos);
}

TEST_CASE("hostile concordances are refused in one line") {
  const TemporaryDirectory directory;
  const auto refused = [&](const std::string& from, const std::string& to) -> std::string {
    std::string text = kConcordance;
    const size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    text.replace(at, from.size(), to);
    try {
      concordance_section("c", directory.put("c.json", text), {});
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  const struct {
    const char *from, *to, *words;
  } cases[] = {
      {"\"n\": 8", "\"n\": -8", "all.n is not a count"},
      {"\"n\": 8", "\"n\": 1e300", "all.n is not a count"},
      {"\"n\": 8", "\"n\": 18446744073709551615", "all.n is not a count"},
      {"\"n\": 8", "\"m\": 8", "all.n is missing"},
      {"\"n\": 8", "\"n\": \"8\"", "all.n is not a number or null"},
      {"\"pearson\": 0.9", "\"pearson\": 2", "all.pearson is not a number from -1 to 1"},
      {"\"auroc_a\": 0.75", "\"auroc_a\": -0.1", "all.auroc_a is not a number from 0 to 1"},
      {"\"mean_abs_diff\": 0.25", "\"mean_abs_diff\": 1e999", "c.json"},
      {"\"seed\": 3", "\"seed\": 1e30", "seed is not a whole number"},
      {"\"confidence\": 0.9", "\"confidence\": 9", "confidence is not a number from 0 to 1"},
      {"\"met\": true", "\"met\": 1", "bounds[0].met is not true or false"},
      {"{\"file\": \"x.bcf\", \"tag\": \"S\"}", "[]", "a is not an object"},
      {"\"bounds\": [", "\"strata\": {}, \"by\": \"T\", \"bounds\": [", "strata is not a list"},
      {"\"bounds\": [", "\"strata\": [3], \"by\": \"T\", \"bounds\": [", "strata[0] is not an object"},
      {"\"tag\": \"S\"}", "\"tag\": \"S\"", "c.json"}};
  for (const auto& one : cases) {
    CAPTURE(one.to);
    const std::string message = refused(one.from, one.to);
    CHECK_MESSAGE(message.find(one.words) != std::string::npos, message);
    CHECK(message.find('\n') == std::string::npos);
  }
}
