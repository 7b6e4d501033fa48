// The layout of CSI and TBI (the SAM/BAM specifications CSIv1 and Tabix), read with every count compared with
// what is left of the file.
#include "src/formats/index_check.hpp"

#include <htslib/bgzf.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "src/base/error.hpp"

namespace carbon {
namespace {

// The index of a genome with a record at every base is far smaller.
constexpr size_t kMostBytes = size_t{1} << 31;
constexpr int32_t kTabixFields =
    7;  // format, three columns, comment character, lines to skip, bytes of names
constexpr int32_t kTbiShift = 14, kTbiDepth = 5;

struct Close {
  void operator()(BGZF* file) const { (void)!bgzf_close(file); }
};

/// The contents of an index, read from its beginning.
class IndexReader {
 public:
  IndexReader(std::string path, std::string function)
      : path_(std::move(path)), function_(std::move(function)) {
    const std::unique_ptr<BGZF, Close> file(bgzf_open(path_.c_str(), "r"));
    if (!file) fail(std::string("cannot be opened: ") + std::strerror(errno));
    char block[1 << 16];
    for (ssize_t got; (got = bgzf_read(file.get(), block, sizeof block)) != 0;) {
      if (got < 0 || file->errcode != 0) fail("is cut or damaged");
      if (bytes_.size() > kMostBytes) fail("is larger than any index");
      bytes_.append(block, static_cast<size_t>(got));
    }
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw Error(function_, "the index " + path_ + " " + what +
                               "; remove it, or build it again with bcftools index -f or tabix -f");
  }

  std::string_view take(uint64_t bytes) {
    if (bytes > bytes_.size() - at_) fail("is cut or damaged: it ends too early");
    at_ += bytes;
    return std::string_view(bytes_).substr(at_ - bytes, bytes);
  }
  template <class T>
  T number() {
    T value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  /// A count of things of `size` bytes each.
  uint64_t count(uint64_t size) {
    const auto value = number<int32_t>();
    if (value < 0 || static_cast<uint64_t>(value) > (bytes_.size() - at_) / size)
      fail("is damaged: a count is wrong");
    return static_cast<uint64_t>(value);
  }
  size_t left() const { return bytes_.size() - at_; }

 private:
  std::string path_, function_, bytes_;
  size_t at_ = 0;
};

/// The bytes of contig names of a tabix header, whose other fields precede.
void check_names(IndexReader& in, uint64_t bytes) {
  const std::string_view names = in.take(bytes);
  if (!names.empty() && names.back() != '\0') in.fail("is damaged: its names do not end");
}

struct Binning {
  int32_t min_shift, depth;
};

Binning read_header(IndexReader& in, bool csi) {
  if (!csi) return {kTbiShift, kTbiDepth};
  const auto min_shift = in.number<int32_t>(), depth = in.number<int32_t>();
  // Positions have at most 63 bits, and the numbers of bins 31.
  if (min_shift < 1 || depth < 0 || depth > 9 || min_shift > 60 - 3 * depth)
    in.fail("is damaged: it divides a contig into no possible bins");
  const uint64_t extra = in.count(1);
  if (extra == 0) return {min_shift, depth};
  if (extra < kTabixFields * sizeof(int32_t)) in.fail("is damaged: its columns are cut");
  (void)in.take((kTabixFields - 1) * sizeof(int32_t));
  const uint64_t names = in.count(1), rest = extra - kTabixFields * sizeof(int32_t);
  if (names > rest) in.fail("is damaged: its names are cut");
  check_names(in, names);
  (void)in.take(rest - names);
  return {min_shift, depth};
}

/// A run of records in the file, by virtual offsets: the compressed block in the upper 48 bits, and the place
/// in it below.
struct Chunk {
  uint64_t begin = 0, end = 0;
};

/// The records of one bin.
struct Bin {
  uint32_t number = 0;
  uint64_t first_offset = 0;  // no record that overlaps the beginning of the bin lies before it in the file
  std::vector<Chunk> chunks;
};

Bin read_bin(IndexReader& in, bool csi) {
  Bin bin = {in.number<uint32_t>(), csi ? in.number<uint64_t>() : 0, {}};
  bin.chunks.resize(in.count(sizeof(Chunk)));
  for (Chunk& chunk : bin.chunks) chunk = {in.number<uint64_t>(), in.number<uint64_t>()};
  return bin;
}

/// The 16 kb window of TBI with which a bin begins.
size_t first_window(uint32_t bin) {
  uint32_t level_begin = 0, bins_of_level = 1;
  int32_t depth = kTbiDepth;
  for (; bin >= level_begin + bins_of_level; --depth) {
    level_begin += bins_of_level;
    bins_of_level *= 8;
  }
  return size_t{bin - level_begin} << (3 * depth);
}

/// TBI: for each window, where the first record that overlaps it begins.
void read_first_offsets(IndexReader& in, std::vector<Bin>& bins) {
  std::vector<uint64_t> offsets(in.count(sizeof(uint64_t)));
  for (uint64_t& offset : offsets) offset = in.number<uint64_t>();
  for (Bin& bin : bins)
    if (const size_t window = first_window(bin.number); window < offsets.size())
      bin.first_offset = offsets[window];
}

/// htslib begins to read at the first offset of a bin, so that records before it would be lost. All records
/// of a contig lie within `contig`, if the index names that range.
void check_chunks(const IndexReader& in, const Bin& bin, const std::optional<Chunk>& contig) {
  for (const Chunk& chunk : bin.chunks) {
    if (chunk.begin >= chunk.end) in.fail("is damaged: records end before they begin");
    if (chunk.begin < bin.first_offset) in.fail("is damaged: records lie before the first of their bin");
    if (contig && (chunk.begin < contig->begin || chunk.end > contig->end))
      in.fail("is damaged: records of a contig lie outside of its range");
  }
}

void check_contig(IndexReader& in, bool csi, const Binning& binning) {
  const uint32_t bin_numbers = static_cast<uint32_t>(((uint64_t{1} << (3 * (binning.depth + 1))) - 1) / 7);
  const uint32_t counts_bin = bin_numbers + 1;  // holds the contig's range and numbers of records
  const uint64_t present = in.count(sizeof(uint32_t));
  std::optional<Chunk> contig;
  std::vector<Bin> bins;
  bool has_first = false;
  for (uint64_t n = present; n > 0; --n) {
    Bin bin = read_bin(in, csi);
    has_first |= bin.number == 0;
    if (bin.number != counts_bin) {
      if (bin.number >= bin_numbers) in.fail("is damaged: a bin has an impossible number");
      bins.push_back(std::move(bin));
      continue;
    }
    if (bin.chunks.size() != 2) in.fail("is damaged: it counts no records");
    contig = bin.chunks[0];
  }
  // If contigs are so short that there is only this bin, htslib would look for it for ever.
  if (binning.depth == 0 && present > 0 && !has_first) in.fail("is damaged: a contig lacks its only bin");
  if (!csi) read_first_offsets(in, bins);
  for (const Bin& bin : bins) check_chunks(in, bin, contig);
}

void check_index(const std::string& path, const std::string& function) {
  IndexReader in(path, function);
  const std::string_view magic = in.take(4);
  const bool csi = magic == std::string_view("CSI\1", 4);
  if (!csi && magic != std::string_view("TBI\1", 4)) in.fail("is neither CSI nor TBI");
  const Binning binning = read_header(in, csi);
  const uint64_t contigs = in.count(sizeof(int32_t));
  if (!csi) {
    (void)in.take((kTabixFields - 1) * sizeof(int32_t));
    check_names(in, in.count(1));
  }
  for (uint64_t i = 0; i < contigs; ++i) check_contig(in, csi, binning);
  if (in.left() != 0 && in.left() != sizeof(uint64_t)) in.fail("is damaged: more follows its last contig");
}

}  // namespace

void check_indices(const std::string& path, const std::string& function) {
  for (const char* suffix : {".csi", ".tbi"}) {
    struct stat status {};
    if (::stat((path + suffix).c_str(), &status) == 0 && S_ISREG(status.st_mode))
      check_index(path + suffix, function);
  }
}

}  // namespace carbon
