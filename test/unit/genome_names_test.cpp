// Region strings, region files and contig name mapping.

#include <doctest/doctest.h>

#include "src/base/advice_topics.hpp"
#include "src/formats/contig_names.hpp"
#include "src/formats/regions.hpp"
#include "test/unit/genome_files.hpp"

using namespace carbon;
using namespace carbon_test;

namespace {

std::string text_of(const Region& region) {
  return region.contig + "|" + std::to_string(region.begin) + "|" + std::to_string(region.end);
}

}  // namespace

TEST_CASE("region strings follow samtools faidx") {
  const TemporaryDirectory dir;
  const std::string bases(2000, 'A');
  IndexedFasta fasta(dir.put("a.fa", ">chr1\n" + bases + "\n>chr1:5-9\nACGT\n>HLA-A*01:02\nACGTAC\n"));
  const auto parse = [&](const std::string& text) { return text_of(parse_region(text, fasta)); };
  const auto error = [&](const std::string& text) { return error_of([&] { parse_region(text, fasta); }); };
  CHECK(parse("chr1") == "chr1|0|2000");
  CHECK(parse("chr1:") == "chr1|0|2000");
  CHECK(parse("chr1:100") == "chr1|99|2000");
  CHECK(parse("chr1:100-") == "chr1|99|2000");
  CHECK(parse("chr1:100-100") == "chr1|99|100");
  CHECK(parse("chr1:-100") == "chr1|0|100");
  CHECK(parse("chr1:1,000-1,001") == "chr1|999|1001");
  CHECK(parse("chr1:1990-3000") == "chr1|1989|2000");
  CHECK(parse("HLA-A*01:02") == "HLA-A*01:02|0|6");
  CHECK(parse("HLA-A*01:02:3-4") == "HLA-A*01:02|2|4");
  CHECK(parse("{HLA-A*01:02}:3") == "HLA-A*01:02|2|6");
  CHECK(parse("{chr1:5-9}") == "chr1:5-9|0|4");
  CHECK(parse("{chr1}:5-9") == "chr1|4|9");
  CHECK(contains(error("chr1:5-9"), "{chr1}:5-9"));
  CHECK(contains(error("chr2"), "no sequence chr2"));
  CHECK(contains(error("chr2:1-3"), "no sequence chr2:1-3"));
  for (const char* bad :
       {"chr1:0-5", "chr1:0", "chr1:20-10", "chr1:2001", "chr1:-", "chr1:x", "chr1:5-9x", "chr1:--5",
        "chr1:99999999999999999999", "chr1:+5", "none", "{chr1", "{chr1}5", "", "chr1: 5"}) {
    CAPTURE(bad);
    CHECK(error(bad) != "");
  }
}

TEST_CASE("region files: BED by name, else regions or tab-separated columns") {
  const TemporaryDirectory dir;
  IndexedFasta fasta(dir.put("a.fa", ">chr1\n" + std::string(100, 'A') + "\n"));
  const auto read = [&](const std::string& path) {
    std::string text;
    for (const Region& region : read_regions(path, fasta)) text += text_of(region) + " ";
    return text;
  };
  const std::string bed = "#c\ntrack name=x\nbrowser position\nchr1\t10\t20\tname\r\n\nchr1 30 40\n";
  CHECK(read(dir.put("r.bed", bed)) == "chr1|10|20 chr1|30|40 ");
  CHECK(read(dir.put_bgzf("r.bed.gz", bed)) == "chr1|10|20 chr1|30|40 ");
  CHECK(read(dir.put("r.txt", "chr1\t10\t20\nchr1:5-6\nchr1\t7\nchr1\t90\t200\n")) ==
        "chr1|9|20 chr1|4|6 chr1|6|7 chr1|89|100 ");
  IndexedFasta tracks(dir.put("t.fa", ">track\n" + std::string(100, 'A') + "\n>browser_2\nACGT\n"));
  std::string found;
  for (const Region& region :
       read_regions(dir.put("t.bed", "track name=x\ntrack\t10\t20\nbrowser_2\t0\t2\ntrack 30 40\n"), tracks))
    found += text_of(region) + " ";
  CHECK(found == "track|10|20 browser_2|0|2 track|30|40 ");
  CHECK(read_regions(dir.put("t.txt", "track\nbrowser_2\n"), tracks).size() == 2);
  const auto error = [&](const std::string& name, const std::string& text) {
    return error_of([&] { read_regions(dir.put(name, text), fasta); });
  };
  CHECK(contains(error("e.txt", "chr1\t10\t20\nchr2\t1\t2\n"), "e.txt:2: no sequence chr2"));
  CHECK(contains(error("e.bed", "chr1\t10\n"), "e.bed:1"));
  CHECK(contains(error("e.bed", "chr1\t10\t10\n"), "e.bed:1"));
  CHECK(contains(error("e.bed", "chr1\tx\t10\n"), "'x' is not a position"));
  CHECK(contains(error("e.txt", "chr1\t0\t10\n"), "e.txt:1"));
  CHECK(contains(error("e.txt", "chr1\t200\t210\n"), "e.txt:1"));
  CHECK(contains(error("e.txt", "\nchr3:5\n"), "e.txt:2"));
}

TEST_CASE("contig names map exactly, by prefix and by file") {
  const TemporaryDirectory dir;
  IndexedFasta bare(dir.put("bare.fa", ">1\nA\n>2\nA\n>MT\nA\n>chr\nA\n"));
  IndexedFasta prefixed(dir.put("prefixed.fa", ">chr1\nA\n>chr2\nA\n>chrM\nA\n>both\nA\n>chrboth\nA\n"));
  CHECK(ContigNames::exact().to_fasta("1", bare) == "1");
  CHECK(ContigNames::exact().to_fasta("chr1", bare) == "");
  const ContigNames from_vcf = ContigNames::with_prefixes("chr,-");
  CHECK(from_vcf.to_fasta("chr1", bare) == "1");
  CHECK(from_vcf.to_fasta("1", bare) == "1");
  CHECK(from_vcf.to_fasta("chr", bare) == "chr");
  CHECK(from_vcf.to_fasta("chr3", bare) == "");
  CHECK(from_vcf.to_fasta("chrchr1", bare) == "");
  const ContigNames from_fasta = ContigNames::with_prefixes("-,chr");
  CHECK(from_fasta.to_fasta("1", prefixed) == "chr1");
  CHECK(from_fasta.to_fasta("chr1", prefixed) == "");
  CHECK(contains(error_of([&] { from_fasta.to_fasta("both", prefixed); }), "chrboth"));
  CHECK(ContigNames::with_prefixes("chr,chr").to_fasta("chr1", prefixed) == "chr1");
  for (const char* bad : {"", "chr", ",", "chr,", ",chr", "a,b,c"}) {
    CAPTURE(bad);
    CHECK(error_of([&] { ContigNames::with_prefixes(bad); }) != "");
  }

  const ContigNames map = ContigNames::with_map(dir.put("map", "NC_1.1\tchr1\nMT chrM\r\n\nX chrX\n"));
  CHECK(map.to_fasta("NC_1.1", prefixed) == "chr1");
  CHECK(map.to_fasta("MT", prefixed) == "chrM");
  CHECK(map.to_fasta("chr2", prefixed) == "chr2");
  CHECK(map.to_fasta("X", prefixed) == "");
  const auto map_error = [&](const std::string& text) {
    return error_of([&] { ContigNames::with_map(dir.put("bad", text)); });
  };
  CHECK(contains(map_error("a b\nc\n"), "bad:2"));
  CHECK(contains(map_error("a b c\n"), "bad:1"));
  CHECK(contains(map_error("a b\na c\n"), "bad:2"));
  CHECK(map_error("") != "");

  const ContigNames exact = ContigNames::exact();
  const auto prefixes = [](const std::string& vcf, const std::string& fasta) {
    return Advice{AdviceTopic::contig_prefixes, {vcf, fasta}};
  };
  const Advice none;
  CHECK(exact.advice({"chr1"}, {"1"}) == prefixes("chr", "-"));
  CHECK(exact.advice({"1"}, {"chr1"}) == prefixes("-", "chr"));
  CHECK(exact.advice({"Chr1"}, {"chr1"}) == prefixes("Chr", "chr"));
  CHECK(from_vcf.advice({"1"}, {"chr1"}) == prefixes("-", "chr"));
  CHECK(from_vcf.advice({"1"}, {"1"}) == none);
  CHECK(exact.advice({"NC_000001.11"}, {"chr1"}) ==
        Advice{AdviceTopic::contig_pairs, {"NC_000001.11", "chr1"}});
  CHECK(exact.advice({"1", "2"}, {"2"}) == none);
  CHECK(exact.advice({}, {"2"}) == none);
}
