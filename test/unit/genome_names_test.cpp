// Region strings, region files and contig name mapping.

#include <doctest/doctest.h>

#include "src/base/error.hpp"
#include "src/formats/contig_names.hpp"
#include "src/formats/contig_spelling.hpp"
#include "src/formats/gene_models.hpp"
#include "src/formats/sequence_inputs.hpp"
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
  CHECK(contains(error("chr2:1-3"), "region 'chr2:1-3': no sequence chr2 in"));
  CHECK(contains(error("1:1-3"), "no sequence 1 in " + fasta.path() + ", which calls it chr1"));
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
  CHECK(contains(error("e.bed", "chr1\t10\t10\n"), "no region of this file has a base"));
  CHECK(read(dir.put("e.bed", "chr1\t10\t10\nchr1\t1\t2\n")) == "chr1|1|2 ");
  CHECK(contains(error("e.bed", ""), "there are no regions"));
  CHECK(contains(error("e.bed", "chr1\tx\t10\n"), "'x' is not a position"));
  CHECK(contains(error("e.txt", "chr1\t0\t10\n"), "e.txt:1"));
  CHECK(contains(error("e.txt", "chr1\t200\t210\n"), "e.txt:1"));
  CHECK(contains(error("e.txt", "\nchr3:5\n"), "e.txt:2"));
}

TEST_CASE("contig names map exactly, by prefix and by file") {
  const TemporaryDirectory dir;
  IndexedFasta bare(dir.put("bare.fa", ">1\nA\n>2\nA\n>MT\nA\n>chr\nA\n"));
  IndexedFasta prefixed(dir.put("prefixed.fa", ">chr1\nA\n>chr2\nA\n>chrM\nA\n>both\nA\n>chrboth\nA\n"));
  CHECK(ContigNames().to_fasta("1", bare) == "1");
  CHECK(ContigNames().to_fasta("chr1", bare) == "");
  const ContigNames from_vcf = ContigNames("chr,-");
  CHECK(from_vcf.to_fasta("chr1", bare) == "1");
  CHECK(from_vcf.to_fasta("1", bare) == "1");
  CHECK(from_vcf.to_fasta("chr", bare) == "chr");
  CHECK(from_vcf.to_fasta("chr3", bare) == "");
  CHECK(from_vcf.to_fasta("chrchr1", bare) == "");
  const ContigNames from_fasta = ContigNames("-,chr");
  CHECK(from_fasta.to_fasta("1", prefixed) == "chr1");
  CHECK(from_fasta.to_fasta("chr1", prefixed) == "");
  CHECK(contains(error_of([&] { from_fasta.to_fasta("both", prefixed); }), "chrboth"));
  CHECK(ContigNames("chr,chr").to_fasta("chr1", prefixed) == "chr1");
  for (const char* bad : {"chr", ",", "chr,", ",chr", "a,b,c"}) {
    CAPTURE(bad);
    CHECK(error_of([&] { ContigNames{bad}; }) != "");
  }

  const ContigNames map = ContigNames("", dir.put("map", "NC_1.1\tchr1\nMT chrM\r\n\nX chrX\n"));
  CHECK(map.to_fasta("NC_1.1", prefixed) == "chr1");
  CHECK(map.to_fasta("MT", prefixed) == "chrM");
  CHECK(map.to_fasta("chr2", prefixed) == "chr2");
  CHECK(map.to_fasta("X", prefixed) == "");
  const ContigNames both("-,chr", dir.put("both", "MT\tchrM\n"));
  CHECK(both.to_fasta("MT", prefixed) == "chrM");
  CHECK(both.to_fasta("1", prefixed) == "chr1");
  const auto map_error = [&](const std::string& text) {
    return error_of([&] { ContigNames("", dir.put("bad", text)); });
  };
  CHECK(contains(map_error("a b\nc\n"), "bad:2"));
  CHECK(contains(map_error("a b c\n"), "bad:1"));
  CHECK(contains(map_error("a b\na c\n"), "bad:2"));
  CHECK(map_error("") != "");

  const ContigNames exact;
  const auto prefixes = [](const std::string& vcf, const std::string& fasta) {
    return Advice{"add {--unify-chr-names 0}", {vcf + "," + fasta}};
  };
  const Advice none;
  CHECK(exact.advice({"chr1"}, {"1"}) == prefixes("chr", "-"));
  CHECK(exact.advice({"1"}, {"chr1"}) == prefixes("-", "chr"));
  CHECK(exact.advice({"Chr1"}, {"chr1"}) == prefixes("Chr", "chr"));
  CHECK(from_vcf.advice({"1"}, {"chr1"}) == prefixes("-", "chr"));
  CHECK(from_vcf.advice({"1"}, {"1"}) == none);
  CHECK(exact.advice({"NC_000001.11"}, {"chr1"}) ==
        Advice{"name the pairs in a file (the VCF has {0}, the FASTA {1}) and add {--chr-map} FILE",
               {"NC_000001.11", "chr1"}});
  CHECK(exact.advice({"1", "2"}, {"2"}) == none);
  CHECK(exact.advice({}, {"2"}) == none);
}

TEST_CASE("other spellings of names are offered where there is one") {
  const ContigSpellings file({"chr1", "chrM", "2", "chr2", "X"});
  CHECK(file.other("1") == "chr1");
  CHECK(file.other("MT") == "chrM");
  CHECK(file.other("chrX") == "X");
  CHECK(file.other("chromosome1") == "chr1");
  for (const char* name : {"chr1", "2", "Chr2", "3"}) CHECK(file.other(name) == "");
  const Respelled some = respelled({"3", "MT", "1"}, {"chr1", "chrM"}, "the FASTA");
  CHECK(some.words == "; the FASTA calls MT chrM and 1 chr1");
  CHECK(some.advice.text == "give the right names in pairs with {--chr-map} FILE");
  CHECK(respelled({"3"}, {"chr1"}, "the FASTA").words == "");
}

TEST_CASE("attributes of GFF3 and of GTF") {
  const auto feature = [](const std::string& type, const std::string& attributes) {
    GeneFeature found;
    parse_gene_feature("c%3B1\tx\t" + type + "\t3\t9\t.\t-\t.\t" + attributes, "f:1", found);
    return found;
  };
  const GeneFeature gff = feature("mRNA", "ID=a%2Cb; Name=b=c;x;Name=d;Parent=g%2C1,g2;Note=e \"f\"");
  CHECK_FALSE(gff.gtf);
  CHECK(gff.contig == "c;1");
  CHECK(gff.begin == 2);
  CHECK(gff.end == 9);
  CHECK(gff.strand == '-');
  CHECK(gff.id() == "a,b");
  CHECK(gff.parent() == "g,1");
  CHECK(gff.attribute("Name") == "b=c");
  CHECK_FALSE(gff.attribute("x"));
  CHECK_FALSE(feature("gene", ".").attribute("ID"));
  CHECK(feature("gene", "Names=a;Name=").attribute("Name") == "");
  const std::string attributes =
      "gene_id \"ENSG1\"; transcript_id \"\"; level 2; note \"a=b; gene_name \"; gene_name \"A%41\"; tag "
      "\"x\"; tag \"y\"";
  const GeneFeature gtf = feature("gene", attributes);
  CHECK(gtf.gtf);
  CHECK(gtf.contig == "c%3B1");
  CHECK(gtf.id() == "ENSG1");
  CHECK(gtf.parent() == "");
  CHECK(feature("exon", attributes).id() == "");
  CHECK(feature("exon", attributes).parent() == "ENSG1");
  CHECK(gtf.attribute("gene_name") == "A%41");
  CHECK(gtf.attribute("note") == "a=b; gene_name ");
  CHECK(gtf.attribute("level") == "2");
  CHECK(gtf.attribute("transcript_id") == "");
  CHECK(gtf.attribute("tag") == "x");
  CHECK_FALSE(gtf.attribute("gene"));
  CHECK_FALSE(feature("gene", "gene_id").attribute("gene_id"));
  CHECK(gff3_text("a%2Cb%3b%C3%A9") == "a,b;\u00e9");
  CHECK(gff3_text("%0A%09%1f%2") == "%0A%09%1f%2");  // what would break a line or a table stays as it is
  CHECK(gff3_text("100%") == "100%");
  CHECK(gff3_text("%zz%4") == "%zz%4");
  CHECK(is_gene_feature("c1\tx\tgene\t3\t9\t.\t-\t.\t."));
  CHECK_FALSE(is_gene_feature("c1\t5\t9\t3\t9\t.\t-\t.\t."));
  CHECK_FALSE(is_gene_feature("c1\t5\t9"));
}
