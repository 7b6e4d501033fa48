// What the section of variants of a report is made of: summaries, bins, names of groups, consequences, fields
// of headers. Whole commands are in test/cli/report_variants_test.py.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include "src/base/error.hpp"
#include "src/report/sections/distributions.hpp"
#include "src/report/sections/variant_parts.hpp"
#include "src/report/sources/input.hpp"
#include "src/report/sources/variants.hpp"

using namespace carbon;

namespace {

/// numpy.quantile, with its default: linear.
double quantile(std::vector<float> values, double share) {
  std::sort(values.begin(), values.end());
  const double place = static_cast<double>(values.size() - 1) * share;
  const auto low = static_cast<size_t>(place);
  const size_t high = std::min(low + 1, values.size() - 1);
  const double a = static_cast<double>(values[low]), b = static_cast<double>(values[high]);
  return a + (b - a) * (place - static_cast<double>(low));
}

/// Reproducible values over many sizes, both signs, and some equal ones.
std::vector<float> some_values(size_t count, uint32_t seed) {
  std::vector<float> out;
  uint64_t state = seed;
  for (size_t i = 0; i < count; ++i) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    const double part = static_cast<double>(state >> 40) / (1 << 24) - 0.5;
    out.push_back(static_cast<float>(i % 5 == 0 ? std::round(part * 8) : std::pow(part * 4, 3) * 10));
  }
  return out;
}

ScoreSummary summary_of(std::vector<float> values) {
  return ScoreSummary(values);
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("report: quartiles are exact") {
  for (const size_t count : {1u, 2u, 3u, 4u, 5u, 6u, 7u, 100u, 5001u}) {
    const std::vector<float> values = some_values(count, static_cast<uint32_t>(count));
    const ScoreSummary summary = summary_of(values);
    CHECK(summary.count == count);
    for (size_t q = 0; q < 3; ++q) CHECK(summary.quartiles[q] == quantile(values, (q + 1) / 4.0));
    CHECK(summary.least == static_cast<double>(*std::min_element(values.begin(), values.end())));
    CHECK(summary.most == static_cast<double>(*std::max_element(values.begin(), values.end())));
    long double sum = 0;
    for (const float value : values) sum += static_cast<long double>(value);
    CHECK(summary.mean ==
          doctest::Approx(static_cast<double>(sum) / static_cast<double>(count)).epsilon(1e-14));
  }
}

TEST_CASE("report: quartiles of extreme, equal and signed zero values") {
  const float most = std::numeric_limits<float>::max(), tiny = std::numeric_limits<float>::denorm_min();
  for (const std::vector<float>& values : std::vector<std::vector<float>>{{most, -most, 0.0f},
                                                                          {tiny, -tiny, 0.0f, -0.0f},
                                                                          {-3, -3, -3, -3},
                                                                          {1, std::nextafter(1.0f, 2.0f)}}) {
    const ScoreSummary summary = summary_of(values);
    for (size_t q = 0; q < 3; ++q) CHECK(summary.quartiles[q] == quantile(values, (q + 1) / 4.0));
  }
  CHECK(std::isnan(summary_of({}).mean));
  CHECK(std::isnan(summary_of({}).quartiles[1]));
}

TEST_CASE("report: a sum does not lose small values beside large ones") {
  std::vector<float> values = {1e8f};
  for (int i = 0; i < 1000; ++i) values.push_back(1e-9f);
  values.push_back(-1e8f);
  const double exact = 1000 * static_cast<double>(1e-9f) / 1002;
  CHECK(summary_of(values).mean == doctest::Approx(exact).epsilon(1e-12));
}

TEST_CASE("report: scores by group, where small groups and those without a name of their own are joined") {
  VariantLayout layout;
  layout.tags.push_back({"S", "", kNoFlagTag});
  VariantDistributions drawn(layout);
  const std::vector<float> values = some_values(6000, 3);
  std::vector<float> snvs, first, others;
  for (size_t i = 0; i < values.size(); ++i) {
    VariantRecord record;
    record.alts = {"C", "CT"};
    record.types = {"SNV", "INS"};
    record.filter = i % 2 == 0 ? "PASS" : "f" + std::to_string(i % 600);  // 300 names, and PASS
    record.scores = {{values[i], i % 10 == 0 ? std::numeric_limits<float>::quiet_NaN() : -values[i]}};
    drawn.add(record);
    snvs.push_back(values[i]);
    std::vector<float>& group = i % 2 == 0 ? first : others;
    for (const float score : record.scores[0])
      if (!std::isnan(score)) group.push_back(score);
  }
  drawn.finish();
  const std::vector<ScoreGroup>& types = drawn.groups(0, Grouping::type);
  REQUIRE(types.size() == 2);
  CHECK(types[0].name == "SNV");
  CHECK(types[0].scores.count == 6000);
  CHECK(types[1].alleles == 6000);
  CHECK(types[1].scores.count == 5400);
  for (size_t q = 0; q < 3; ++q) CHECK(types[0].scores.quartiles[q] == quantile(snvs, (q + 1) / 4.0));
  const std::vector<ScoreGroup>& filters = drawn.groups(0, Grouping::filter);
  REQUIRE(filters.size() == VariantDistributions::kShown);
  CHECK(filters[0].name == "PASS");
  CHECK(filters[0].scores.quartiles[1] == quantile(first, 0.5));
  CHECK(filters.back().name == "all others");
  uint64_t alleles = 0, inside = 0;
  for (const ScoreGroup& group : filters) {
    alleles += group.alleles;
    inside += group.bins.below + group.bins.above;
    for (const uint64_t count : group.bins.counts) inside += count;
  }
  CHECK(alleles == 12000);
  CHECK(inside == first.size() + others.size());
}

TEST_CASE("report: bins have round edges that are the nearest doubles, and hold all values") {
  const std::pair<double, double> ranges[] = {{-3.7, 2.9},  {0, 1},   {0, 0.07}, {-1e-12, 1e-12}, {5, 5.0001},
                                              {1e20, 3e20}, {-2, -2}, {0, 0},    {7e37, 3e38}};
  for (const auto& range : ranges) {
    const double least = range.first, most = range.second;
    const ScoreBins bins(least, most);
    CAPTURE(least);
    CAPTURE(most);
    CHECK(bins.size() >= 1);
    CHECK(bins.size() <= 160);
    CHECK(bins.edge(0) <= least);
    CHECK(bins.edge(bins.size()) >= most);
    for (const double value : {least, most, (least + most) / 2}) {
      const int64_t bin = bins.find(value);
      REQUIRE(bin >= 0);
      REQUIRE(bin < static_cast<int64_t>(bins.size()));
      const auto i = static_cast<size_t>(bin);
      CHECK(bins.edge(i) <= value);
      CHECK((value < bins.edge(i + 1) || i + 1 == bins.size()));
    }
    CHECK(bins.find(bins.edge(0) - bins.width()) == -1);
    CHECK(bins.find(bins.edge(bins.size()) + bins.width()) == static_cast<int64_t>(bins.size()));
  }
  const ScoreBins bins(-0.7, 0.7);
  for (size_t i = 0; i <= bins.size(); ++i) {
    CHECK(bins.edge(i) == std::strtod(std::to_string(bins.edge(i)).c_str(), nullptr));
    if (i < bins.size()) CHECK(bins.find(bins.edge(i)) == static_cast<int64_t>(i));
  }
}

TEST_CASE("report: names of groups keep their numbers, and further ones share one") {
  GroupNames names({"SNV", "DEL"});
  CHECK(names.number("DEL") == 1);
  for (size_t i = 2; i < GroupNames::kMost; ++i) CHECK(names.number("n" + std::to_string(i)) == i);
  CHECK(names.number("one more") == GroupNames::kMost);
  CHECK(names.number("another") == GroupNames::kMost);
  CHECK(names.number("n7") == 7);
  CHECK(names.names().size() == GroupNames::kMost);
}

TEST_CASE("report: a long name is not cut within a letter") {
  VariantLayout layout;
  layout.tags.push_back({"S", "", kNoFlagTag});
  VariantRecord record;
  record.contig = std::string(19, 'c') + "\u00e9\u00e9";
  record.pos = 1;
  record.ref = "A";
  record.filter = std::string(199, 'f') + "\u00e9";
  record.alts = {"C"};
  record.types = {"SNV"};
  record.scores = {{1.0f}};
  CHECK(allele_name(record, 0) == std::string(19, 'c') + "\u2026:1 A>C");
  VariantDistributions drawn(layout);
  drawn.add(record);
  drawn.finish();
  CHECK(drawn.groups(0, Grouping::filter).at(0).name == record.filter);
}

TEST_CASE("report: a long allele is shortened in the table of the lowest scores") {
  VariantLayout layout;
  layout.tags.push_back({"S", "", kNoFlagTag});
  const ReportOptions options;
  const VariantFile file{"v", "v.vcf", layout, options};
  const std::unique_ptr<VariantPart> ranking = variant_ranking(file);
  VariantRecord record;
  record.ref = std::string(20, 'A');
  record.alts = {std::string(1234, 'A')};
  record.types = {"INS"};
  record.scores = {{-1.0f}};
  ranking->add(record);
  Section section;
  ranking->finish(section);
  const Texts row = std::get<Table>(section.parts.at(0)).rows.at(0);
  CHECK(row[3] == std::string(20, 'A'));
  CHECK(row[4] == std::string(16, 'A') + "\u2026 (1,234 letters)");
}

TEST_CASE("report: tags become different names of figures") {
  CHECK(figure_parts({"A.B", "A_B", "<x>"}) == Texts{"_A_B", "_A_B_2", "__x_"});
}

TEST_CASE("report: the order of severity is that of Ensembl, for the terms of all three programs") {
  const Texts order = {"transcript_ablation", "splice_acceptor",  "stop_gained", "frameshift",
                       "start_lost",          "inframe_deletion", "missense",    "splice_region",
                       "synonymous",          "5_prime_utr",      "intron",      "intergenic_region"};
  for (size_t i = 1; i < order.size(); ++i) CHECK(severity(order[i - 1]) < severity(order[i]));
  CHECK(severity("missense") == severity("missense_variant"));
  CHECK(severity("*missense") == severity("missense"));
  CHECK(severity("conservative_inframe_deletion") == severity("inframe_deletion"));
  CHECK(severity("intergenic_variant") < severity("no_such_term"));
  CHECK(severity("no_such_term") == severity(""));
}

TEST_CASE("report: entries of CSQ are for the alleles that VEP names") {
  const ConsequenceLayout layout(
      "CSQ", "Consequence annotations from Ensembl VEP. Format: Allele|Consequence|SYMBOL|Gene");
  REQUIRE(layout.known());
  const auto terms = [&](const Texts& entries, const std::string& ref, const Texts& alts) {
    Texts out;
    for (const Consequence& one : layout.read(entries, 10, ref, alts))
      out.push_back(one.term + ":" + one.gene);
    return out;
  };
  CHECK(terms({"-|stop_lost|S|E"}, "CT", {"C"}) == Texts{"stop_lost:S"});
  CHECK(terms({"T|intron_variant||E", "T|missense_variant&x|S|E"}, "C", {"T"}) ==
        Texts{"missense_variant:S"});
  // The first base is shared by all alleles but *, which keeps its name.
  CHECK(terms({"AA|intron_variant|S|", "*|stop_lost|T|"}, "C", {"CAA", "*"}) ==
        Texts{"intron_variant:S", "stop_lost:T"});
  // One allele begins with another base, so no base is left out.
  CHECK(terms({"CA|intron_variant|S|", "G|stop_lost|T|"}, "C", {"CA", "G"}) ==
        Texts{"intron_variant:S", "stop_lost:T"});
  // As VEP has them with --minimal.
  CHECK(terms({"A|intron_variant|S|", "G|stop_lost|T|"}, "C", {"CA", "G"}) ==
        Texts{"intron_variant:S", "stop_lost:T"});
  CHECK(terms({"A|missense_variant"}, "C", {"T"}) == Texts{":"});
  CHECK(terms({"", "|||", "T", "T|"}, "C", {"T"}) == Texts{":"});
}

TEST_CASE("report: fields of CSQ are where the header says, and unknown without it") {
  const ConsequenceLayout layout("CSQ", "Format: Gene | Consequence|Allele'");
  CHECK(layout.read({"E|stop_lost|T"}, 1, "C", {"T"})[0].gene == "E");
  CHECK_FALSE(ConsequenceLayout("CSQ", "no words of it").known());
  CHECK_FALSE(ConsequenceLayout("CSQ", "Format: Allele|Gene").known());
  CHECK(ConsequenceLayout("ANN", "").known());
  CHECK(ConsequenceLayout("BCSQ", "").known());
}

TEST_CASE("report: fields of header lines") {
  const HeaderFields fields = header_fields(R"(##INFO=<ID=A,Number=.,Description="x, \"y\" > z",Last=1>)");
  REQUIRE(fields.size() == 4);
  CHECK(header_field(fields, "Description") == "x, \"y\" > z");
  CHECK(header_field(fields, "Last") == "1");
  CHECK(header_field(fields, "None").empty());
  for (const char* damaged :
       {"", "##", "##a=", "##a=<", "##a=<b", "##a=<b=", "##a=<b=\"", "##a=<b=\"\\", "##a=<b=c,", "a=<b=c>"})
    CHECK(header_fields(damaged).size() <= 1);
}

TEST_CASE("the header says which scores are low for damaging alleles") {
  CarbonModels models;
  models.add("##carbon_vepModel=<ID=MINE,Model=\"m\">");
  models.add("##carbon_scanModel=<ID=SCANNED>");
  models.add("##carbon_vepModel=damaged");
  for (const char* tag : {"MINE_LLR", "MINE_LLR_TOKEN", "MINE_NT", "MINE_ALLR", "MINE_ALLR_96", "SCANNED"})
    CHECK(models.low_is_damaging(tag, ""));
  for (const char* tag :
       {"MINE", "MINE_FLAG", "MINE_ALLR_", "MINE_ALLR_x", "MINE_TOKEN", "SCANNED_LLR", "AF", ""})
    CHECK_FALSE(models.low_is_damaging(tag, ""));
  CHECK(models.low_is_damaging("OTHER_LLR", "Carbon log-likelihood ratio"));
  CHECK_FALSE(models.low_is_damaging("OTHER_LLR", "log-likelihood ratio"));
  CHECK_FALSE(models.low_is_damaging("OTHER_FLAG", "Carbon flag"));
  models.add("##carbon_vepModel=<ID=MINE_L2,Model=\"m\",Recipe=centered,Measure=l2,Horizon=768>");
  CHECK(models.direction("MINE_L2", "") == ScoreDirection::high);
  CHECK(models.direction("MINE_JSD", "") == ScoreDirection::unknown);  // no line of its own
  CHECK(models.direction("MINE_LLR", "") == ScoreDirection::low);
  CHECK(models.direction("OTHER_JSD", "Carbon Jensen-Shannon divergence") == ScoreDirection::high);
  CHECK(models.direction("OTHER_JSD", "divergence") == ScoreDirection::unknown);
  CHECK(score_prefix("MINE_L2") == "MINE");
  CHECK(score_prefix("MINE_JSD") == "MINE");
}

TEST_CASE("report: the head has a sentence for each model") {
  const Texts lines = {
      "##carbon_vepVersion=1",
      "##carbon_vepModel=<ID=A,Model=\"m\",Dtype=f32,Device=\"cuda:sm_90x1\",Recipe=centered>",
      "##carbon_scanModel=<ID=B,Model=\"carbon-tiny\">", "##carbon_vepModel=<ID=C>"};
  CHECK(model_sentences(lines) ==
        Texts{"A: Model m, recipe centered, data type f32, device cuda.",
              "B: Model carbon-tiny. This is a demonstration model: not meaningful for variants."});
}

TEST_CASE("report: provenance says program, command and models") {
  using Pairs = std::vector<std::pair<std::string, std::string>>;
  const Texts one = {"##carbon_vepVersion=0.1.0+htslib-1.16",
                     "##carbon_vepCommand=carbon vep -f a=b; Date=x",
                     "##carbon_vepModel=<ID=C,Model=\"m\",SHA256=ab>",
                     "##other=1",
                     "##carbon_",
                     "##carbon_note=n"};
  CHECK(variant_provenance("x/y.vcf", one) == Pairs{{"File", "y.vcf"},
                                                    {"Program", "carbon vep 0.1.0+htslib-1.16"},
                                                    {"Command", "carbon vep -f a=b; Date=x"},
                                                    {"Tags", "C"},
                                                    {"Model", "m"},
                                                    {"SHA-256 of the model", "ab"},
                                                    {"carbon_note", "n"}});
  const Texts two = {"##carbon_vepModel=<ID=C,Model=\"m\">", "##carbon_vepModel=<ID=D,Model=\"n\">"};
  CHECK(variant_provenance("y.vcf", two) == Pairs{{"File", "y.vcf"}, {"C: Model", "m"}, {"D: Model", "n"}});
}
