// Region lists for VCF input: grammar, files, merging, and what overlaps. The records that are selected are
// compared with bcftools in test/cli/vep_regions_test.py.

#include <doctest/doctest.h>

#include "src/formats/regions.hpp"
#include "src/formats/vcf.hpp"
#include "test/unit/genome_files.hpp"

using namespace carbon;
using namespace carbon_test;

namespace {

/// `contig:begin-end` of each region, 0-based, ends included; `*` for an open end.
std::string shown(const VcfRegions& regions) {
  std::string text;
  for (const VcfRegions::Contig& contig : regions.contigs()) {
    for (const VcfInterval& interval : contig.intervals) {
      text += (text.empty() ? "" : " ") + contig.name + ":" + std::to_string(interval.begin) + "-" +
              (interval.end > int64_t{1} << 43 ? "*" : std::to_string(interval.end));
    }
  }
  return text;
}

std::string list(const std::string& text) {
  return shown(VcfRegions::from_list(text));
}

}  // namespace

TEST_CASE("region lists in the grammar of bcftools") {
  CHECK(list("c1") == "c1:0-*");
  CHECK(list("c1:100") == "c1:99-99");
  CHECK(list("c1:100-200") == "c1:99-199");
  CHECK(list("c1:100-") == "c1:99-*");
  CHECK(list("c1:-100") == "c1:0-99");
  CHECK(list("c1:0-5") == "c1:-1-4");
  CHECK(list("{h:1}:5-6,{h:2},{c1}:7") == "h:1:4-5 h:2:0-* c1:6-6");
  CHECK(list("c2,c1:5,,c2:7,") == "c2:0-* c1:4-4");
  CHECK(list("c1:1.5k-2e3,c1:1M") == "c1:1499-1999 c1:999999-999999");
  CHECK(list("c1:5-99999999999999999999999") == "c1:4-*");
  CHECK(list("c1:5,h:1:7-8,c2:1,234-2,345,c2:3000-4,000") == "c1:4-4 h:1:6-7 c2:1233-2344 c2:2999-3999");
  const KnownContig known = [](const std::string& name) { return name == "h:1" || name == "c1"; };
  CHECK(shown(VcfRegions::from_list("h:1:7,h:1,c1:2", known)) == "h:1:0-* c1:1-1");
  CHECK(error_of([&] { VcfRegions::from_list("h:2:7-8", known); }).find("{CHROM}") != std::string::npos);
  for (const char* bad : {"", ",", "c1:", "c1:-", "c1:x", "c1:5-6x", "c1:5:6", "c1:20-10", "{c1", "{c1}5",
                          ":5", "{}", "c1:1 5", "c1:5--6", "c1:+5"}) {
    CAPTURE(bad);
    CHECK(error_of([&] { VcfRegions::from_list(bad, [](const std::string&) { return false; }); }) != "");
  }
  CHECK(list("c1:x,h:x:5-6") == "c1:x:0-* h:x:4-5");
  CHECK(error_of([] { VcfRegions::from_list("c1:5,h:1:7"); }).find("h:1:7") != std::string::npos);
}

TEST_CASE("regions of a contig are sorted and merged, contigs stay in order") {
  CHECK(list("c2:30-40,c1:9,c2:10-20,c2:15-30,c2:50,c2:41") == "c2:9-39 c2:40-40 c2:49-49 c1:8-8");
  CHECK(list("c1:10-100,c1:20-30,c1:90-95,c1:99-120") == "c1:9-119");
}

TEST_CASE("region files: positions, ranges, BED and VCF") {
  const TemporaryDirectory dir;
  const auto file = [&](const char* name, const std::string& text) {
    return shown(VcfRegions::from_file(dir.put(name, text)));
  };
  CHECK(file("a.txt", "#CHROM\tPOS\nc1\t5\nc1\t9\n") == "c1:4-4 c1:8-8");
  CHECK(file("b.txt", "c1\t5\t8\tname\nc2\t1\t1\n") == "c1:4-7 c2:0-0");
  CHECK(file("c.txt", "c1\t5\tA\tT\nc1\t9\tCC\tG\n") == "c1:4-4 c1:8-8");
  CHECK(file("l.txt", "c1\t5\t\nc1 7 9\nc2:20-30\nc2:35\n\nc3\n \n") ==
        "c1:4-4 c1:6-8 c2:19-29 c2:34-34 c3:0-*");
  CHECK(file("m.gff3", "c1\tx\tgene\t5\t9\t.\t+\t.\tID=a\n##FASTA\n>c1\n") == "c1:4-8");
  CHECK(file("m.GTF", "c1\tx\tgene\t5\t9\t.\t+\t.\tgene_id \"a\";\n") == "c1:4-8");
  CHECK(file("n.txt", "c1\tx\texon\t5\t9\t.\t+\t.\tID=a\nc1\tx\texon\t15\t19\t.\t+\t.\tID=b\n") ==
        "c1:4-8 c1:14-18");
  CHECK(file("d.bed", "track name=x\nc1\t5\t8\r\nc1\t20\t20\n") == "c1:5-7");
  CHECK(
      file("i.bed", "browser position c1:1-9\ntrack1\t5\t8\nbrowser_2\t1\t2\ntrack\t3\t4\ntrack\tname=x\n") ==
      "track1:5-7 browser_2:1-1 track:3-3");
  for (const char* name : {"e.BED", "e.Bed", "e.bed"}) CHECK(file(name, "c1\t0\t8\n") == "c1:0-7");
  for (const char* name : {"e.bed.GZ", "e.bed.bgz", "e.BED.bgzf"})
    CHECK(shown(VcfRegions::from_file(dir.put_bgzf(name, "c1\t0\t8\n"))) == "c1:0-7");
  CHECK(file("bed", "c1\t5\t8\n") == "c1:4-7");
  CHECK(file("f.vcf", "##fileformat=VCFv4.2\n#CHROM\tPOS\tID\nc1\t5\t17\tACG\n") == "c1:4-4");
  CHECK(shown(VcfRegions::from_file(dir.put_bgzf("g.bed.gz", "c1\t5\t8\n"))) == "c1:5-7");
  for (const char* bad :
       {"", "#\n", "c1:\n", "c1\tx\t8\n", "c1\t5\t8\nc1\t9\tA\n", "c1\t8\t5\n", "c1\t8\t7\n", "\t5\t8\n"}) {
    CAPTURE(bad);
    const std::string path = dir.put("bad.txt", bad);
    CHECK(error_of([&] { VcfRegions::from_file(path); }).find("bad.txt") != std::string::npos);
  }
  CHECK(error_of([&] { VcfRegions::from_file(dir.put("h.txt", "c1\t5\t8\nc1\t7\tx\n")); }).find("h.txt:2") !=
        std::string::npos);
  const std::string mixed = error_of([&] { file("k.txt", "c1\t5\tA\nc1\t7\t9\n"); });
  CHECK(mixed.find("k.txt:2: the third column is '9' here, and no END in") != std::string::npos);
  CHECK(error_of([&] { file("z.bed", "c1\t5\t5\n"); }).find("no region of this file has a base") !=
        std::string::npos);
  CHECK(error_of([&] { VcfRegions::from_file(dir.file("absent")); }).find("absent") != std::string::npos);
}

TEST_CASE("a cut region file is an error, not a shorter list") {
  const TemporaryDirectory dir;
  const std::string path = dir.put_bgzf("r.bed.gz", "c1\t5\t8\n");
  const std::string bytes = read_bytes(path);
  dir.put("r.bed.gz", bytes.substr(0, bytes.size() - 28));
  CHECK(error_of([&] { VcfRegions::from_file(path); }).find("cut") != std::string::npos);
}

TEST_CASE("the extent of a record: POS, reference bases, differing bases") {
  const auto extent = [](VcfOverlap overlap, const std::string& ref, const std::vector<std::string>& alts) {
    const VcfInterval e = vcf_extent(overlap, 100, static_cast<int64_t>(ref.size()), ref, alts);
    return std::to_string(e.begin) + "-" + std::to_string(e.end);
  };
  CHECK(extent(VcfOverlap::pos, "ACGT", {"A"}) == "100-100");
  CHECK(extent(VcfOverlap::record, "ACGT", {"A"}) == "100-103");
  CHECK(extent(VcfOverlap::variant, "ACGT", {"A"}) == "101-103");
  CHECK(extent(VcfOverlap::variant, "ACGT", {"A", "ACG"}) == "101-103");
  CHECK(extent(VcfOverlap::variant, "ACGT", {"A", "TCGT"}) == "100-103");
  CHECK(extent(VcfOverlap::variant, "A", {"AT"}) == "101-100");
  CHECK(extent(VcfOverlap::variant, "A", {"<DEL>"}) == "100-100");
  CHECK(extent(VcfOverlap::variant, "ACGT", {}) == "104-103");
}

TEST_CASE("overlap with the regions of a contig") {
  const VcfRegions regions = VcfRegions::from_list("c1:10-20,c1:30-40,c2");
  CHECK_FALSE(regions.overlap("c1", {8, 8}));
  CHECK(regions.overlap("c1", {8, 9}));
  CHECK(regions.overlap("c1", {19, 25}));
  CHECK_FALSE(regions.overlap("c1", {20, 28}));
  CHECK(regions.overlap("c1", {20, 29}));
  CHECK_FALSE(regions.overlap("c1", {40, 90}));
  CHECK_FALSE(regions.overlap("c1", {20, 19}));
  CHECK(regions.overlap("c1", {19, 18}));
  CHECK(regions.overlap("c2", {123456789, 123456789}));
  CHECK_FALSE(regions.overlap("c3", {15, 15}));
  CHECK(regions.overlap("c1", {-1, -1}));
}

TEST_CASE("names of the overlap modes") {
  CHECK(parse_vcf_overlap("pos", "--x") == VcfOverlap::pos);
  CHECK(parse_vcf_overlap("1", "--x") == VcfOverlap::record);
  CHECK(parse_vcf_overlap("Variant", "--x") == VcfOverlap::variant);
  CHECK(error_of([] { parse_vcf_overlap("3", "--x"); }).find("--x 3") != std::string::npos);
  CHECK(error_of([] { parse_vcf_overlap("", "--x"); }) != "");
}

TEST_CASE("an index is refused for outputs that cannot have it") {
  const auto refused = [](const std::string& path, char type, const std::string& kind) {
    return error_of([&] {
      VcfWriterOptions options;
      options.path = path;
      options.type = type;
      parse_write_index(kind, options);
    });
  };
  CHECK(refused("o.vcf.gz", 0, "tbi") == "");
  CHECK(refused("o.vcf.gz", 'v', "csi") == "");
  CHECK(refused("o.bcf", 0, "csi") == "");
  CHECK(refused("o.dat", 'z', "tbi") == "");
  CHECK(refused("o.bcf", 0, "tbi").find("BCF") != std::string::npos);
  CHECK(refused("o.bcf", 'u', "csi").find("not compressed") != std::string::npos);
  CHECK(refused("o.vcf", 'z', "csi").find("not compressed") != std::string::npos);
  CHECK(refused("-", 'z', "csi").find("standard output") != std::string::npos);
  CHECK(refused("o.vcf.gz", 0, "in.vcf").find("expected csi or tbi") != std::string::npos);
}
