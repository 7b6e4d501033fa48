// Records and lines of regions, found by an index, are those that are in the whole file.

#include <doctest/doctest.h>

#include "src/formats/indexed_table.hpp"
#include "src/formats/regions.hpp"
#include "src/formats/vcf.hpp"
#include "test/unit/genome_records.hpp"

using namespace carbon;
using namespace carbon_test;

namespace {

const std::string columns = "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n";

/// Writes the text as BCF or VCF.gz with an index.
void write_indexed(const std::string& in, const std::string& out, VcfIndexKind index) {
  VcfWriterOptions options;
  options.path = out;
  options.index = index;
  copy_records(in, options);
}

/// contig:pos of each record.
std::string places(const std::string& path, const VcfReaderOptions& options) {
  std::string text;
  VcfReader reader(path, options);
  for (VcfRecord record; reader.next(record);)
    text += record.contig() + ":" + std::to_string(record.pos() + 1) + " ";
  return text;
}

std::string in_regions(const std::string& path, const std::string& regions) {
  VcfReaderOptions options;
  options.regions = regions;
  return places(path, options);
}

std::string in_targets(const std::string& path, const std::string& targets) {
  VcfReaderOptions options;
  options.targets = targets;
  options.targets_overlap = VcfOverlap::record;
  return places(path, options);
}

}  // namespace

TEST_CASE("regions give the same records as targets, with every kind of file and index") {
  const TemporaryDirectory directory;
  std::string text =
      "##fileformat=VCFv4.2\n##contig=<ID=a,length=90000>\n##contig=<ID=b>\n##contig=<ID=c>\n" + columns;
  for (const int pos : {1, 5, 50, 16384, 16385, 40000, 90000})
    text += "a\t" + std::to_string(pos) + "\t.\tACG\tA\t.\t.\t.\n";
  text += "c\t7\t.\tA\tC\t.\t.\t.\n";
  const std::string in = directory.put("in.vcf", text);
  const struct {
    std::string name;
    VcfIndexKind index;
  } kinds[] = {
      {"csi.bcf", VcfIndexKind::csi}, {"csi.vcf.gz", VcfIndexKind::csi}, {"tbi.vcf.gz", VcfIndexKind::tbi}};
  for (const auto& kind : kinds) {
    const std::string path = directory.file(kind.name);
    write_indexed(in, path, kind.index);
    for (const std::string region :
         {"a", "a:1-1", "a:2-3", "a:7", "a:8-49", "a:16386-39999", "a:90002-", "a:90003-", "b", "c", "c:1-6",
          "c:8", "a:1-60,a:16385-16386,c", "c,b,a:50-40000"}) {
      CAPTURE(kind.name);
      CAPTURE(region);
      std::string expected = in_targets(in, region);
      // Regions of several contigs come in the order in which they were given.
      if (region.starts_with("c,")) expected = in_targets(in, "c") + in_targets(in, "a:50-40000");
      CHECK(in_regions(path, region) == expected);
    }
  }
}

TEST_CASE("regions without records are empty, also if the numbers of the contigs have gaps") {
  const TemporaryDirectory directory;
  const std::string in =
      directory.put("in.vcf", "##fileformat=VCFv4.2\n##contig=<ID=a,IDX=3>\n##contig=<ID=b,IDX=5>\n" +
                                  columns + "a\t50\t.\tA\tC\t.\t.\t.\n");
  const std::string path = directory.file("in.bcf");
  write_indexed(in, path, VcfIndexKind::csi);
  CHECK(in_regions(path, "a:1-100") == "a:50 ");
  CHECK(in_regions(path, "a:60-100") == "");
  CHECK(in_regions(path, "a:1-40") == "");
  CHECK(in_regions(path, "b") == "");
  CHECK(in_regions(path, "b:1-10,a") == "a:50 ");
}

TEST_CASE(
    "regions of contigs that only the writer knows are empty, and an index of fewer contigs is refused") {
  const TemporaryDirectory directory;
  const auto put = [&](const std::string& name, const std::string& contigs) {
    const std::string in =
        directory.put("in.vcf", "##fileformat=VCFv4.2\n" + contigs + columns + "a\t50\t.\tA\tC\t.\t.\t.\n");
    write_indexed(in, directory.file(name), VcfIndexKind::csi);
    return directory.file(name);
  };
  const std::string one = put("one.bcf", "##contig=<ID=a>\n");
  VcfReaderOptions regions;
  regions.regions = "z,a";
  VcfReader reader(one, regions);
  VcfWriterOptions writing;
  writing.path = directory.file("out.bcf");
  writing.contigs = {{"a", 100}, {"z", 100}};
  const VcfWriter writer(reader, writing);
  VcfRecord record;
  CHECK(reader.next(record));
  CHECK(record.contig() == "a");
  CHECK_FALSE(reader.next(record));

  const std::string two = put("two.bcf", "##contig=<ID=a>\n##contig=<ID=b>\n");
  CHECK(in_regions(two, "b") == "");
  directory.put("two.bcf.csi", read_bytes(one + ".csi"));
  CHECK(contains(error_of([&] { in_regions(two, "b"); }), "index"));
}

TEST_CASE("the index of a shorter file is refused, that of the file is good wherever it lies") {
  const TemporaryDirectory directory;
  const std::string header = "##fileformat=VCFv4.2\n##contig=<ID=a>\n##contig=<ID=b>\n" + columns;
  const std::string few = "a\t5\t.\tA\tC\t.\t.\t.\n";
  std::string many = few;
  for (int pos = 6; pos < 9000; ++pos) many += "a\t" + std::to_string(pos) + "\t.\tA\tC\t.\t.\t.\n";
  many += "b\t7\t.\tA\tC\t.\t.\t.\n";
  const struct {
    std::string name, suffix;
    VcfIndexKind index;
  } kinds[] = {{"csi.bcf", ".csi", VcfIndexKind::csi},
               {"csi.vcf.gz", ".csi", VcfIndexKind::csi},
               {"tbi.vcf.gz", ".tbi", VcfIndexKind::tbi}};
  for (const auto& kind : kinds) {
    CAPTURE(kind.name);
    const std::string path = directory.file(kind.name), index = path + kind.suffix;
    const std::string elsewhere = directory.file("index" + kind.suffix);
    for (const std::string& records : {std::string(), few}) {
      write_indexed(directory.put("in.vcf", header + records), path, kind.index);
      CHECK(in_regions(path, "b") == "");
      std::filesystem::rename(index, elsewhere);
      write_indexed(directory.put("in.vcf", header + many), path, kind.index);
      std::filesystem::copy_file(elsewhere, index, std::filesystem::copy_options::overwrite_existing);
      for (const char* region : {"a:5", "b"}) {
        const std::string message = error_of([&] { in_regions(path, region); });
        CAPTURE(message);
        CHECK(contains(message, index));
        // An old index ends within the file, which is a place where a block begins if the file has grown.
        CHECK((contains(message, "is not that of the whole file: records of") ||
               contains(message, "nothing can be read where its records end")));
      }
    }
    write_indexed(directory.put("in.vcf", header + many), path, kind.index);
    std::filesystem::rename(index, elsewhere);
    CHECK(in_regions(path + "##idx##" + elsewhere, "b") == "b:7 ");
    CHECK(contains(error_of([&] { in_regions(path, "b"); }), "no usable index"));
  }
  const std::string path = directory.file("csi.vcf.gz");
  std::filesystem::rename(directory.file("index.csi"), path + ".csi");
  const std::string blocks = read_bytes(path).substr(0, read_bytes(path).size() - 28);
  REQUIRE(run_command("gzip -c " + directory.put("few", few) + " > " + directory.file("few.gz")).status == 0);
  directory.put("csi.vcf.gz", blocks + read_bytes(directory.file("few.gz")));
  const std::string message = error_of([&] { in_regions(path, "b"); });
  CHECK(contains(message, "gzip from there on"));
}

TEST_CASE("a table that is damaged somewhere gives an error or all lines of the regions") {
  const TemporaryDirectory directory;
  std::string text = "#CHROM\tPOS\tX\n", wanted;
  for (int pos = 1; pos <= 8000; ++pos) {
    const std::string line = "a\t" + std::to_string(pos) + "\t" + std::to_string(pos * 7919 % 10007) + "\n";
    if (pos >= 2000) wanted += line;
    text += line;
  }
  const std::string path = directory.put_bgzf("in.tsv.gz", text);
  if (!have_command("tabix")) {
    MESSAGE("SKIPPED: tabix is not installed");
    return;
  }
  REQUIRE(run_command("tabix -s1 -b2 -e2 " + path).status == 0);
  const std::string bytes = read_bytes(path);
  int refused = 0;
  const auto is_right = [&] {
    std::string got;
    const std::string error = error_of([&] {
      IndexedTable table(path, "test", VcfRegions::from_list("a:2000-8000"));
      for (std::string line; table.line(line);) got += line + "\n";
    });
    refused += !error.empty();
    return !error.empty() || got == wanted;
  };
  CHECK(is_right());
  CHECK(refused == 0);
  for (size_t at = 0; at < bytes.size(); at += 101) {
    for (const int change : {1, 255}) {
      std::string changed = bytes;
      changed[at] = static_cast<char>(changed[at] ^ change);
      directory.put("in.tsv.gz", changed);
      CAPTURE(at);
      CHECK(is_right());
    }
  }
  CHECK(refused > 100);
  // htslib would read the table that this names.
  const std::string other = directory.put("other.tsv.gz", bytes);
  directory.put("in.tsv.gz", R"({"htsget":{"format":"VCF","urls":[{"url":")" + other + R"("}]}})");
  const auto open = [&] { IndexedTable(path, "test", VcfRegions::from_list("a:2000-8000")); };
  CHECK(error_of(open).find("htsget") != std::string::npos);
}
