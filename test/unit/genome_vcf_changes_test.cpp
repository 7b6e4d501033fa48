// What is said of VCF that htslib changes or refuses: values, header lines, and the reason of an error.

#include <doctest/doctest.h>

#include <htslib/hts_log.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "src/files/htslib_messages.hpp"
#include "src/files/text_input.hpp"
#include "src/formats/vcf.hpp"
#include "test/unit/genome_records.hpp"
#include "test/unit/test_log.hpp"

using namespace carbon;
using namespace carbon_test;
using carbon::test::TestLog;

namespace {

const std::string header =
    "##fileformat=VCFv4.2\n##contig=<ID=1,length=1000>\n"
    "##INFO=<ID=RS,Number=1,Type=Integer,Description=\"r\">\n"
    "##INFO=<ID=AF,Number=A,Type=Float,Description=\"a\">\n"
    "##INFO=<ID=S,Number=.,Type=String,Description=\"s\">\n"
    "##INFO=<ID=END,Number=1,Type=Integer,Description=\"e\">\n"
    "##INFO=<ID=DB,Number=0,Type=Flag,Description=\"d\">\n"
    "##FORMAT=<ID=GT,Number=1,Type=String,Description=\"g\">\n"
    "##FORMAT=<ID=DP,Number=1,Type=Integer,Description=\"d\">\n"
    "##FORMAT=<ID=AD,Number=R,Type=Integer,Description=\"d\">\n"
    "##FORMAT=<ID=FF,Number=.,Type=Float,Description=\"d\">\n";
const std::string columns = "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO";
const std::string sampled = columns + "\tFORMAT\ts\tt\n";

/// The warnings of reading a VCF to its end, or up to `records`.
std::vector<std::string> warnings_of(const std::string& text, int records = -1,
                                     const VcfReaderOptions& options = {}) {
  const TemporaryDirectory dir;
  TestLog log;
  {
    VcfReader reader(dir.put("in.vcf", text), options, log);
    for (VcfRecord record; records-- != 0 && reader.next(record);) {
    }
  }
  return log.lines();
}

std::string record(const std::string& quality, const std::string& info, const std::string& samples = "") {
  return "1\t10\t.\tA\tC\t" + quality + "\t.\t" + info + (samples.empty() ? "" : "\t" + samples) + "\n";
}

bool about(const std::string& warning, std::initializer_list<const char*> parts) {
  return std::all_of(parts.begin(), parts.end(),
                     [&](const char* part) { return warning.find(part) != std::string::npos; });
}

}  // namespace

TEST_CASE("values that htslib cannot hold are told once for each tag, with a count and the first place") {
  const std::vector<std::string> told =
      warnings_of(header + sampled + record(".", "RS=5;AF=1e-300", "DP\t1\t99999999999") +
                  record("ten", "RS=2148352434", "DP:FF\t-2147483648:1\t3:1,,2") +
                  record(".", "RS=-2147483648;END=3000000000", "AD\t1,2147483648\t2,3") +
                  record(".", "RS=2148352434;AF=12x", "DP\t1\t2"));
  REQUIRE(told.size() == 7);
  CHECK(about(told[0], {"1 value of FORMAT/AD", "line 15 (1:10)", "1,2147483648 and becomes 1,."}));
  CHECK(about(told[1], {"2 values of FORMAT/DP", "the first in line 13", "99999999999 and becomes ."}));
  CHECK(about(told[2], {"1 value of FORMAT/FF", "line 14", "1,,2 and becomes 1,0,2"}));
  CHECK(about(told[3], {"2 values of INFO/AF", "line 13", "1e-300 and becomes 0", "Type=String"}));
  CHECK(about(told[4], {"1 value of INFO/END", "3000000000 and becomes ."}));
  CHECK(about(told[5], {"3 values of INFO/RS", "line 14", "2148352434 and becomes .", "Type=String"}));
  CHECK(about(told[6], {"1 value of QUAL", "ten and becomes 0"}));
}

TEST_CASE("another spelling of the same value is no change") {
  CHECK(warnings_of(header + sampled +
                    record("1e3", "RS=007;AF=0.123456789;S=a%2Cb,,x=y;DB", "GT:DP:AD\t0/1\t1|.:.:.,.") +
                    record("0.5000", ";;RS=+5;;AF=NaN;", "GT:AD\t./.:.\t.:1,2") +
                    record("50", "AF=1e-05", "GT:FF\t0:0.00001\t1:1E5") + record(".", ".", ".\t.\t.") +
                    record(".", "DB=0;RS;AF=;S=", "GT:DP\t0/1:\t1"))
            .empty());
}

TEST_CASE("values are told of a run that ends early, and only of records that were selected") {
  const std::string text = header + columns + "\n" + record(".", "RS=3000000000") + record(".", "RS=1");
  CHECK(warnings_of(text, 1).size() == 1);
  VcfReaderOptions elsewhere;
  elsewhere.targets = "1:500-600";
  CHECK(warnings_of(text, -1, elsewhere).empty());
  // As many tags as a file likes, but not as many messages.
  std::string many = header, infos;
  for (int i = 0; i < 150; ++i) {
    many += "##INFO=<ID=I" + std::to_string(i) + ",Number=1,Type=Integer,Description=\"i\">\n";
    infos += (i ? ";I" : "I") + std::to_string(i) + "=9999999999";
  }
  const std::vector<std::string> told = warnings_of(many + columns + "\n" + record(".", infos));
  CHECK(told.size() == 101);
  CHECK(about(told.back(), {"50 values of other tags"}));
}

TEST_CASE("header lines that htslib leaves out or cuts are told") {
  const std::vector<std::string> odd = {
      "##SAMPLE=<ID=N,ALIQUOT-ID=1>",
      "##CommandLine=<MyCaller -i x>",
      "##key without an equals sign",
      "##contig=<length=5>",
      "##INFO=<ID=RS,Number=2,Type=Float,Description=\"again\">",
      "##FILTER=<ID=q,Description=\"Q\">##INFO=<ID=DP,Number=1,Type=Integer,Description=\"D\">",
  };
  std::string text = header;
  for (const std::string& line : odd) text += line + "\n";
  const std::vector<std::string> told = warnings_of(text + columns + "\n");
  REQUIRE(told.size() == odd.size() + 1);
  CHECK(about(told[0], {"6 lines of the header"}));
  for (size_t i = 0; i < odd.size(); ++i) {
    CHECK(about(told[i + 1], {odd[i].c_str()}));
    CHECK(about(told[i + 1], {i + 1 == odd.size() ? "cut" : "left out"}));
  }
  // What is the same for htslib is not told, nor its own words for PASS.
  CHECK(
      warnings_of(
          header + "##source=a\n##source=a\n##x = y\n##FILTER=<ID=PASS,Description=\"Mine\">\n" +
          "##META=<ID=A,Type=String,Number=.,Values=[One, Two]>\n##FILTER=<ID=q,Description=\"Q\",IDX=70>\n" +
          columns + "\n")
          .empty());
  std::string many = header;
  for (int i = 0; i < 50; ++i) many += "##bad line " + std::to_string(i) + "\n";
  CHECK(warnings_of(many + columns + "\n").size() == 11);
}

TEST_CASE("what a plugin writes as text is compared, too") {
  const TemporaryDirectory dir;
  TestLog log;
  VcfWriterOptions options;
  options.path = dir.file("out.vcf");
  options.log = &log;
  VcfTextWriter writer("a plugin", options);
  writer.write(header + columns + "\n" + record(".", "RS=3000000000"));
  writer.close();
  CHECK(log.has("a plugin: htslib, which reads and writes the records, cannot hold 1 value of INFO/RS"));
}

TEST_CASE("a record that htslib refuses comes with its reason") {
  const TemporaryDirectory dir;
  const auto refusal = [&](const std::string& line) {
    VcfReader reader(dir.put("in.vcf", header + sampled + line));
    VcfRecord read;
    return error_of([&] { reader.next(read); });
  };
  const std::string letter = refusal(record(".", ".", "DP\t1\tx"));
  CHECK(about(letter, {"line 13 (1:10)", "Invalid character 'x' in 'DP'"}));
  CHECK_FALSE(contains(letter, "above"));
  CHECK(about(refusal(record(".", ".", "GT:DP\t0/1\t0/1:1:2")), {"Incorrect number of FORMAT fields"}));
}

TEST_CASE("genotypes that say of their first allele whether it is phased") {
  const TemporaryDirectory dir;
  for (const std::string genotype : {"|0/1", "/0|1"}) {
    const std::string in = dir.put("in.vcf", header + sampled + record(".", ".", "GT\t0/1\t" + genotype));
    VcfReader reader(in);
    VcfRecord read;
    const std::string refused = error_of([&] { reader.next(read); });
    // htslib reads them from version 1.22 on.
    if (refused.empty()) continue;
    CHECK(about(refused, {"a genotype begins with | or /", "4.4", "cut -f1-8"}));
    const std::string out = dir.file("out.vcf");
    CHECK(run_command("cut -f1-8 " + in + " > " + out).status == 0);
    CHECK(VcfReader(out).next(read));
  }
}

TEST_CASE("the reason of htslib leaves this process as it is") {
  set_htslib_verbosity(3);
  int calls = 0;
  CHECK(htslib_reason([&] {
          ++calls;
          hts_log_error("no bases in %s", "x.fa");
          hts_log_error("and more");
        }) == "no bases in x.fa");
  CHECK(calls == 0);
  CHECK(hts_get_log_level() == HTS_LOG_OFF);
  CHECK(htslib_reason([] {}).empty());
  CHECK(htslib_reason([] { throw Error("f", "text"); }).empty());
  CHECK(htslib_reason([] { abort(); }).empty());
  CHECK(htslib_reason([] { hts_log_error("%s", std::string(1'000'000, 'x').c_str()); }).size() == 300);
}

TEST_CASE("marks at the beginning of a text are named") {
  const TemporaryDirectory dir;
  for (const auto& [mark, words] :
       {std::pair<std::string, const char*>{"\xef\xbb\xbf", "UTF-8 byte-order mark"},
        {"\xff\xfe", "UTF-16"}}) {
    const std::string text = mark + header + columns + "\n";
    CHECK(contains(error_of([&] { VcfReader reader(dir.put("in.vcf", text)); }), words));
    CHECK(contains(error_of([&] { VcfReader reader(dir.put_bgzf("in.vcf.gz", text)); }), words));
    std::string line;
    CHECK(contains(error_of([&] { TextInput(dir.put("x.tsv", text), "f").line(line); }), words));
  }
}
