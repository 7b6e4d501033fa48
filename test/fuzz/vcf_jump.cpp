// The records of regions, found by an index, in VCF or BCF. The input is the file before it is compressed;
// the index says of every contig that its records begin after the header. So it is right for the contig of
// the first record, and for it the regions must give what targets give, which are looked for in all records.
// By the same index the values of SNVs are looked up.
// What is read and written must read back.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <optional>
#include <tuple>
#include <vector>

#include "src/formats/snv_table.hpp"
#include "src/formats/vcf.hpp"
#include "test/fuzz/harness.hpp"

namespace carbon::fuzz {
namespace {

using Key = std::tuple<std::string, int64_t, std::string, std::vector<std::string>>;

constexpr const char* kRegions = "c1:40-47,c1:50-2000";

Key key_of(const VcfRecord& record) {
  return {record.contig(), record.pos(), record.ref(), record.alts()};
}

std::vector<Key> read_all(const std::string& path, const VcfReaderOptions& options) {
  std::vector<Key> keys;
  VcfReader reader(path, options);
  for (VcfRecord record; reader.next(record);) keys.push_back(key_of(record));
  return keys;
}

// Records as in a file that has this index: those of c1 first and in order, then those of c2. None has POS 0,
// which is in all targets (as in bcftools) and in no regions.
bool is_indexable(const std::vector<Key>& keys) {
  const auto is_of = [](const char* contig) {
    return [=](const Key& key) { return std::get<0>(key) == contig; };
  };
  const auto others = std::find_if_not(keys.begin(), keys.end(), is_of("c1"));
  return std::all_of(others, keys.end(), is_of("c2")) &&
         std::is_sorted(keys.begin(), others,
                        [](const Key& a, const Key& b) { return std::get<1>(a) < std::get<1>(b); }) &&
         std::all_of(keys.begin(), keys.end(), [](const Key& key) { return std::get<1>(key) >= 0; });
}

size_t records_begin(std::string_view input) {
  if (input.starts_with("BCF")) {
    uint32_t length = 0;
    if (input.size() >= 9) std::memcpy(&length, input.data() + 5, sizeof length);
    return size_t{9} + length;
  }
  // The header ends with the first line that begins with one #.
  for (size_t at = 0; at < input.size();) {
    const std::string_view line = input.substr(at, input.find('\n', at) - at);
    at += line.size() + 1;
    if (line.starts_with('#') && !line.starts_with("##")) return at;
  }
  return input.size();
}

// Contigs of the index: those of its names, or all up to the contig of the first record of BCF, if it has not
// an extreme number.
std::optional<int32_t> contigs_of_index(std::string_view input) {
  if (!input.starts_with("BCF")) return 2;
  const size_t at = records_begin(input) + 2 * sizeof(uint32_t);
  int32_t first = 0;
  if (input.size() < at + sizeof first) return std::nullopt;
  std::memcpy(&first, input.data() + at, sizeof first);
  return first >= 0 && first < 200 ? std::optional(first + 1) : std::nullopt;
}

template <class T>
void append(std::string& text, T number) {
  text.append(reinterpret_cast<const char*>(&number), sizeof number);
}

// CSI with the names c1 and c2 for text. Each contig has the bin that covers all of it, with one chunk; in
// one block an offset is the place in the text.
std::string index_of(std::string_view input, int32_t contigs) {
  const uint64_t begin = records_begin(input), end = input.size();
  const std::string_view names("c1\0c2\0", 6);
  std::string text("CSI\1", 4);
  for (const int32_t number : {14, 5, 34, 2, 1, 2, 0, int{'#'}, 0, 6}) append(text, number);
  text += names;
  append(text, contigs);
  for (int32_t contig = 0; contig < contigs; ++contig) {
    append(text, int32_t{1});
    append(text, uint32_t{0});
    append(text, begin);
    append(text, int32_t{1});
    append(text, begin);
    append(text, end);
  }
  return text;
}

uint64_t copy(const std::string& path, const VcfReaderOptions& options, const VcfWriterOptions& writing) {
  VcfReader reader(path, options);
  VcfWriter writer(reader, writing);
  uint64_t count = 0;
  for (VcfRecord record; reader.next(record); ++count) writer.write(record);
  writer.close();
  return count;
}

// Values of SNVs by the same index; also of a table, which has other columns.
void look_up(const std::string& path, const std::string& tag) {
  SnvTable table(path, tag);
  if (!table.has_contig("c1")) return;
  for (const int64_t pos : {40, 41, 45, 44, 1000, 0})
    if (const SnvValues* const found = table.at("c1", pos))
      require(found->pos == pos && std::string_view("ACGT").find(found->ref) != std::string_view::npos,
              "values of another place");
}

}  // namespace

void run(std::string_view input, const Folder& folder) {
  if (records_begin(input) >= input.size() || input.size() > 60000) return;  // more than one block
  const std::optional<int32_t> contigs = contigs_of_index(input);
  if (!contigs) return;
  const std::string path = folder.put_bgzf("in.vcf.gz", input);
  folder.put_bgzf("in.vcf.gz.csi", index_of(input, *contigs));
  VcfReaderOptions regions, targets;
  regions.regions = kRegions;
  targets.targets = kRegions;
  targets.targets_overlap = VcfOverlap::record;

  attempt([&] { look_up(path, "CARBON_LLR"); });

  std::vector<Key> all, wanted;
  if (attempt([&] { all = read_all(path, {}); }) && is_indexable(all)) {
    wanted = read_all(path, targets);
    require(attempt([&] { require(read_all(path, regions) == wanted, "regions that give other records"); }),
            "regions that are refused");
  }

  constexpr char kTypes[] = {'v', 'b', 'z', 'u'};
  VcfWriterOptions writing;
  writing.type = kTypes[input.size() % std::size(kTypes)];
  writing.path = folder.file("out");
  writing.tags = {{"CARBON_LLR", "A", "Float", "x"}};
  writing.contigs = {{"c1", 120}, {"c3", 60}};
  uint64_t count = 0;
  if (!attempt([&] { count = copy(path, regions, writing); })) return;
  bool same = false;
  require(attempt([&] { same = read_all(writing.path, {}).size() == count; }) && same,
          "an output that does not read back");
}

}  // namespace carbon::fuzz
