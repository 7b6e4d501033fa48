#include "src/formats/records_file.hpp"

#include <htslib/bgzf.h>
#include <htslib/hfile.h>
#include <htslib/hts_log.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "src/base/error.hpp"
#include "src/files/bgzf_blocks.hpp"
#include "src/files/file_name.hpp"
#include "src/files/run_files.hpp"
#include "src/files/text_input.hpp"

namespace carbon {
namespace {

struct CloseAbruptly {
  void operator()(hFILE* file) const { hclose_abruptly(file); }
};

struct Close {
  void operator()(BGZF* file) const { (void)!bgzf_close(file); }
};

/// Throws Error for a text with the marks of an editor, which htslib takes for no text.
void check_marks(hFILE* file, const std::string& shown, const std::string& function) {
  const std::unique_ptr<BGZF, Close> stream(bgzf_hopen(file, "r"));
  if (!stream) return hclose_abruptly(file);
  (void)TextInput(shown, function, stream.get(), nullptr, 0).peek();
}

/// Keeps htslib silent until the end of the scope.
class Silence {
 public:
  Silence() { hts_set_log_level(HTS_LOG_OFF); }
  ~Silence() { hts_set_log_level(level_); }
  Silence(const Silence&) = delete;
  Silence& operator=(const Silence&) = delete;

 private:
  htsLogLevel level_ = hts_get_log_level();
};

// The index of a genome with a record at every base is far smaller.
constexpr size_t kMostBytes = size_t{1} << 31;
constexpr int32_t kTabixFields =
    7;  // format, three columns, comment character, lines to skip, bytes of names
constexpr int32_t kTbiShift = 14, kTbiDepth = 5;

// The layout of CSI and TBI (the SAM/BAM specifications CSIv1 and Tabix), read with every count compared with
// what is left of the file.

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

/// What an index says of its file.
struct IndexedFile {
  bool is_text = false;
  char comment = '#';         // of text: what lines begin with that are no records
  int32_t skipped_lines = 0;  // of text, at its beginning
  uint64_t end = 0;           // where its records end, as a virtual offset; 0 if there are none
};

/// The columns, the comment character and the number of lines that are skipped.
void read_columns(IndexReader& in, IndexedFile& file) {
  (void)in.take(4 * sizeof(int32_t));
  file.is_text = true;
  file.comment = static_cast<char>(in.number<int32_t>());
  file.skipped_lines = in.number<int32_t>();
}

Binning read_header(IndexReader& in, bool csi, IndexedFile& file) {
  if (!csi) return {kTbiShift, kTbiDepth};
  const auto min_shift = in.number<int32_t>(), depth = in.number<int32_t>();
  // Positions have at most 63 bits, and the numbers of bins 31.
  if (min_shift < 1 || depth < 0 || depth > 9 || min_shift > 60 - 3 * depth)
    in.fail("is damaged: it divides a contig into no possible bins");
  const uint64_t extra = in.count(1);
  if (extra == 0) return {min_shift, depth};
  if (extra < kTabixFields * sizeof(int32_t)) in.fail("is damaged: its columns are cut");
  read_columns(in, file);
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

/// Returns where the records of the contig end.
uint64_t check_contig(IndexReader& in, bool csi, const Binning& binning) {
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
  uint64_t last = 0;
  for (const Bin& bin : bins) {
    check_chunks(in, bin, contig);
    for (const Chunk& chunk : bin.chunks) last = std::max(last, chunk.end);
  }
  return last;
}

IndexedFile check_index(IndexReader& in) {
  IndexedFile file;
  const std::string_view magic = in.take(4);
  const bool csi = magic == std::string_view("CSI\1", 4);
  if (!csi && magic != std::string_view("TBI\1", 4)) in.fail("is neither CSI nor TBI");
  const Binning binning = read_header(in, csi, file);
  const uint64_t contigs = in.count(sizeof(int32_t));
  if (!csi) {
    read_columns(in, file);
    check_names(in, in.count(1));
  }
  for (uint64_t i = 0; i < contigs; ++i) file.end = std::max(file.end, check_contig(in, csi, binning));
  if (in.left() != 0 && in.left() != sizeof(uint64_t)) in.fail("is damaged: more follows its last contig");
  return file;
}

/// Moves to the first byte that may belong to a record of a file without any. False if it cannot be found.
bool pass_header(BGZF* file, const IndexedFile& known) {
  if (bgzf_seek(file, 0, SEEK_SET) != 0) return false;
  if (known.is_text) {
    for (int32_t line = 0; line < known.skipped_lines; ++line)
      for (int c = 0; c != '\n';)
        if ((c = bgzf_getc(file)) < 0) return c == -1;
    return true;
  }
  unsigned char start[9];  // "BCF", version, and the bytes of the header text
  if (bgzf_read(file, start, sizeof start) != sizeof start) return false;
  uint64_t left = start[5] | start[6] << 8 | start[7] << 16 | static_cast<uint64_t>(start[8]) << 24;
  for (char block[1 << 12]; left > 0;) {
    const ssize_t got = bgzf_read(file, block, std::min<uint64_t>(left, sizeof block));
    if (got <= 0) return false;
    left -= static_cast<uint64_t>(got);
  }
  return true;
}

enum class Rest { nothing, records, unreadable };

/// What follows in the file; lines of text that are empty or comments are no records. An offset at the end of
/// a block, which some indices have, is understood by bgzf_read(), and not by bgzf_getc().
Rest rest_of(BGZF* file, const IndexedFile& known) {
  bool line_begins = true;
  char block[1 << 12];
  for (ssize_t got; (got = bgzf_read(file, block, sizeof block)) != 0;) {
    if (got < 0) return Rest::unreadable;
    for (const char c : std::string_view(block, static_cast<size_t>(got))) {
      if (!known.is_text || (line_begins && c != known.comment && c != '\n' && c != '\r'))
        return Rest::records;
      line_begins = c == '\n' || (line_begins && c == '\r');
    }
  }
  return file->errcode == 0 ? Rest::nothing : Rest::unreadable;
}

}  // namespace

htsFile* open_records(const std::string& name, const std::string& shown, const std::string& function) {
  const Silence silence;
  const std::string path = split_index_name(name).file;
  check_url(path, function);
  const std::string opened = input_to_open(path, function);
  errno = 0;
  std::unique_ptr<hFILE, CloseAbruptly> file(hopen(opened.c_str(), "r"));
  htsFormat format = {};
  if (!file || hts_detect_format(file.get(), &format) < 0) return nullptr;
  if (format.format == htsget)
    throw Error(
        function,
        shown +
            ": this is an htsget ticket, which carbon does not follow; download the records that it names "
            "and give that file");
  // htslib would decode the beginning of it, which is much to go wrong for a file that nobody wants.
  if (format.format == cram)
    throw Error(function,
                shown + ": this is a CRAM file, which holds reads and no records or tables; check the path");
  htsFile* const records = hts_hopen(file.get(), path.c_str(), "r");
  if (!records && errno == ENOEXEC) {
    check_marks(file.release(), shown, function);
    errno = ENOEXEC;
  } else if (records) {
    (void)file.release();  // which `records` closes
  }
  return records;
}

std::vector<std::string> local_indices(const std::string& path) {
  const IndexedName name = split_index_name(path);
  std::vector<std::string> all = {name.index};
  if (name.index.empty()) all = {path + ".csi", path + ".tbi"};
  std::erase_if(all, [](const std::string& index) {
    struct stat status {};
    return ::stat(index.c_str(), &status) != 0 || !S_ISREG(status.st_mode);
  });
  return all;
}

void check_indices(const std::string& path, const std::string& function) {
  for (const std::string& index : local_indices(path)) {
    IndexReader in(index, function);
    (void)check_index(in);
  }
}

void check_index_reaches_end(const std::string& path, BGZF* file, const std::string& function) {
  const std::vector<std::string> indices = local_indices(path);
  if (indices.empty()) return;
  IndexReader in(indices.front(), function);
  const IndexedFile known = check_index(in);
  const bool found = known.end > 0 ? bgzf_seek(file, static_cast<int64_t>(known.end), SEEK_SET) == 0
                                   : pass_header(file, known);
  const Rest rest = found ? rest_of(file, known) : Rest::unreadable;
  if (rest == Rest::nothing) return;
  const std::string shown = split_index_name(path).file;
  BgzfBlocks::check_throughout(shown, function);
  in.fail(rest == Rest::records
              ? "is not that of the whole file: records of " + shown + " follow the last one in it"
              : "does not match " + shown + ": nothing can be read where its records end");
}

void check_bgzf_end(const std::string& path, BGZF* file, const std::string& function) {
  if (bgzf_check_EOF(file) != 0) return;
  const std::string shown = split_index_name(path).file;
  BgzfBlocks::check_throughout(shown, function);
  throw Error(function, shown +
                            ": the BGZF end-of-file marker is missing, so the file is probably cut; copy "
                            "it again");
}

}  // namespace carbon
