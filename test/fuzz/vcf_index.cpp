// The index (.csi or .tbi) of a file of records, which is always the same and is read as VCF and as a table.
// The input is the index before it is compressed.
#include "src/formats/indexed_table.hpp"
#include "src/formats/regions.hpp"
#include "src/formats/vcf.hpp"
#include "test/fuzz/harness.hpp"

namespace carbon::fuzz {
namespace {

// The seeds (seeds.py) are indices of this text.
constexpr const char* kRecords =
    "##fileformat=VCFv4.2\n##contig=<ID=c1,length=120>\n##contig=<ID=c2,length=60>\n"
    "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n"
    "c1\t5\t.\tA\tC\t.\t.\t.\nc1\t50\t.\tC\tG\t.\t.\t.\nc1\t100\t.\tT\tA\t.\t.\t.\nc2\t7\t.\tG\tA\t.\t.\t.\n";

void read_records(const std::string& path, const std::string& regions) {
  VcfReaderOptions options;
  options.regions = regions;
  VcfReader reader(path, options);
  for (VcfRecord record; reader.next(record);)
    require(record.contig() == "c1" || record.contig() == "c2", "a record that is not in the file");
}

void read_table(const std::string& path, const std::string& regions) {
  if (!IndexedTable::has_index(path)) return;
  IndexedTable table(path, "fuzz", VcfRegions::from_list(regions));
  for (std::string line; table.line(line);)
    require(std::string_view(kRecords).find(line) != std::string_view::npos,
            "a line that is not in the file");
}

}  // namespace

void run(std::string_view input, const Folder& folder) {
  const std::string suffix = input.starts_with("TBI") ? ".tbi" : ".csi";
  const std::string path = folder.put_bgzf("in.vcf.gz", kRecords);
  folder.put_bgzf("in.vcf.gz" + suffix, input);
  for (const char* regions : {"", "c1:40-60", "c2,c1:1-10", "c3"}) {
    attempt([&] { read_records(path, regions); });
    if (*regions != '\0') attempt([&] { read_table(path, regions); });
  }
}

}  // namespace carbon::fuzz
