// What BCF and indexes can hold of long contigs.

#include <doctest/doctest.h>
#include <htslib/tbx.h>

#include "src/formats/vcf.hpp"
#include "test/unit/genome_files.hpp"

using namespace carbon;
using namespace carbon_test;

namespace {

constexpr int64_t kLong = 8'500'000'000;  // more than htslib's bins of 2^14 reach in a table

int lines_at(const std::string& path, int64_t pos) {
  const std::unique_ptr<tbx_t, decltype(&tbx_destroy)> index(
      tbx_index_load3(path.c_str(), nullptr, HTS_IDX_SILENT_FAIL), tbx_destroy);
  const std::unique_ptr<htsFile, decltype(&hts_close)> file(hts_open(path.c_str(), "r"), hts_close);
  REQUIRE(index);
  const std::unique_ptr<hts_itr_t, decltype(&hts_itr_destroy)> found(
      tbx_itr_queryi(index.get(), 0, pos - 1, pos), hts_itr_destroy);
  REQUIRE(found);
  kstring_t line = {0, 0, nullptr};
  int count = 0;
  while (tbx_itr_next(file.get(), index.get(), found.get(), &line) >= 0) ++count;
  std::free(line.s);
  return count;
}

VcfWriterOptions options_for(const std::string& path, VcfIndexKind index) {
  VcfWriterOptions options;
  options.path = path;
  options.index = index;
  options.indexed_table = true;
  return options;
}

}  // namespace

TEST_CASE("the index of a table finds lines beyond 2^32") {
  const TemporaryDirectory dir;
  VcfWriterOptions options = options_for(dir.file("t.tsv.gz"), VcfIndexKind::csi);
  options.contigs = {{"c", kLong}};
  TableOutput table(options);
  table.write("#CHROM\tPOS\nc\t7\nc\t5000000000\nc\t" + std::to_string(kLong) + "\n");
  table.close();
  for (const int64_t pos : {int64_t{7}, int64_t{5'000'000'000}, kLong})
    CHECK(lines_at(options.path, pos) == 1);
  CHECK(lines_at(options.path, 705'032'704) == 0);  // 5,000,000,000 modulo 2^32
}

TEST_CASE("a text of VCF for BCF may have no contig that is too long") {
  const TemporaryDirectory dir;
  const auto written = [&](const std::string& name, int64_t length) {
    return error_of([&] {
      VcfTextWriter writer("text", options_for(dir.file(name), VcfIndexKind::none));
      writer.write("##fileformat=VCFv4.2\n##contig=<ID=c,length=" + std::to_string(length) +
                   ">\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n");
    });
  };
  CHECK(written("a.bcf", 2147483647) == "");
  CHECK(written("a.vcf", kLong) == "");
  const std::string error = written("a.bcf", 2147483648);
  for (const char* word : {"contig c", "2147483648", "2147483647"})
    CHECK(error.find(word) != std::string::npos);
}
