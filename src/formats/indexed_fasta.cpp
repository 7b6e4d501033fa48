// Random access to a FASTA file through htslib's faidx. The index is built so that parallel tasks never read
// a part of one.

#include <fcntl.h>
#include <htslib/bgzf.h>
#include <htslib/faidx.h>
#include <htslib/hfile.h>
#include <htslib/hts.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "src/base/error.hpp"
#include "src/base/letters.hpp"
#include "src/base/numbers.hpp"
#include "src/base/words.hpp"
#include "src/files/bgzf_blocks.hpp"
#include "src/files/file_name.hpp"
#include "src/files/htslib_messages.hpp"
#include "src/files/output.hpp"
#include "src/files/run_files.hpp"
#include "src/files/temporary_files.hpp"
#include "src/files/text_input.hpp"
#include "src/formats/fasta.hpp"

namespace carbon {

namespace {

constexpr const char* function_name = "open_fasta";

[[noreturn]] void fail(const std::string& message) {
  throw Error(function_name, message);
}

struct HfileClose {
  void operator()(hFILE* file) const { (void)!hclose(file); }
};
using HfilePtr = std::unique_ptr<hFILE, HfileClose>;

bool exists(const std::string& path) {
  if (!is_remote(path)) return access(path.c_str(), F_OK) == 0;
  return HfilePtr(hopen(path.c_str(), "r")) != nullptr;
}

/// Throws Error for what is not a file on this machine with something in it.
void check_local_file(const std::string& path) {
  struct stat info = {};
  if (stat(path.c_str(), &info) != 0) fail("cannot open " + path + ": " + std::strerror(errno));
  if (!S_ISREG(info.st_mode)) {
    fail(path + " is not a regular file; random access needs one, so write the FASTA to disk first");
  }
  if (info.st_size == 0) fail(path + " is empty; give a FASTA file");
}

/// Whether the FASTA is BGZF. Throws Error for a file that faidx cannot index.
bool check_fasta(const std::string& path) {
  check_url(path, function_name);
  if (!is_remote(path)) {
    check_local_file(path);
    (void)input_to_open(path, function_name);
  }
  HfilePtr file(hopen(path.c_str(), "r"));
  if (!file) fail("cannot open " + path + ": " + std::strerror(errno));
  htsFormat format = {};
  const int detected = hts_detect_format(file.get(), &format);
  const int closed = hclose(file.release());
  if (detected < 0 || closed < 0) fail("cannot read " + path + ": " + std::strerror(errno));
  if (format.compression == gzip) {
    fail(path +
         " is compressed with gzip, which has no random access; decompress it and compress it with bgzip");
  }
  if (format.compression != no_compression && format.compression != bgzf) {
    fail(path + " is compressed in a format without random access; decompress it and compress it with bgzip");
  }
  if (format.format == fastq_format) fail(path + " is a FASTQ file; give a FASTA file");
  return format.compression == bgzf;
}

/// A line of the index: where the bases of a contig lie in the (decompressed) file.
struct FaiEntry {
  int64_t length = 0, offset = 0;          // bases; byte of the first base
  int64_t line_bases = 0, line_bytes = 0;  // of all lines of the contig except the last

  /// The byte of a base of the contig.
  int64_t byte_of(int64_t base) const { return offset + base / line_bases * line_bytes + base % line_bases; }
  /// The byte after the last base.
  int64_t end() const { return length == 0 ? offset : byte_of(length - 1) + 1; }
};

/// The five columns of a line of the index; nothing if they are not those of one.
std::optional<FaiEntry> parse_entry(std::string_view columns) {
  FaiEntry entry;
  int64_t* const numbers[] = {&entry.length, &entry.offset, &entry.line_bases, &entry.line_bytes};
  for (int64_t* const number : numbers) {
    const size_t tab = columns.find('\t');
    if ((tab == std::string_view::npos) != (number == numbers[3])) return std::nullopt;
    if (!parse_number(columns.substr(0, tab), *number) || *number < 0) return std::nullopt;
    if (tab != std::string_view::npos) columns.remove_prefix(tab + 1);
  }
  if (entry.length == 0) return entry;
  // The last byte must have a number, and a line must hold its bases.
  constexpr int64_t kMostBytes = int64_t{1} << 55;
  if (entry.line_bases == 0 || entry.line_bytes < entry.line_bases || entry.offset > kMostBytes ||
      entry.length / entry.line_bases > kMostBytes / entry.line_bytes)
    return std::nullopt;
  return entry;
}

struct FaiDelete {
  void operator()(faidx_t* fai) const { fai_destroy(fai); }
};
struct BgzfClose {
  void operator()(BGZF* file) const { (void)!bgzf_close(file); }
};

}  // namespace

struct IndexedFasta::Impl {
  Impl(const IndexedName& name, Log& to)
      : log(to), path(name.file), bgzf(check_fasta(path)), dna(to, "fetch_fasta") {
    fai_path = name.index.empty() ? path + ".fai" : name.index;
    gzi_path = bgzf ? path + ".gzi" : "";
    if (!exists(fai_path) || (bgzf && !exists(gzi_path))) {
      build();
    } else {
      warn_if_stale();
    }
    // One that is remote has an index of this run.
    if (bgzf && !is_remote(path)) blocks = std::make_unique<BgzfBlocks>(path, gzi_path, function_name);
    read_index();
    fai.reset(fai_load3(path.c_str(), fai_path.c_str(), bgzf ? gzi_path.c_str() : nullptr, 0));
    if (!fai)
      fail("cannot load the index " + fai_path + " of " + path + "; delete it so that it is built again");
    check_complete();
  }

  void build();
  void build_in_memory();
  void write_beside() const;
  void check_whole_fasta() const;
  [[noreturn]] void refuse_index(const std::string& message) const;
  void warn_if_stale() const;
  void check_complete() const;
  void warn_of_repeated_names(const FastaLayout& layout) const;
  bool has_unindexed() const;
  void read_index();
  void check_place(const std::string& contig, const FaiEntry& entry) const;
  std::string read_around(int64_t begin, int64_t end) const;
  std::string fetch(const std::string& contig, int64_t begin, int64_t end) const;

  Log& log;
  std::string path, fai_path, gzi_path;
  bool bgzf = false;
  std::optional<MemoryFile> built_fai, built_gzi;  // the index that this run has built
  std::vector<std::string> names;
  std::unordered_map<std::string, FaiEntry> entries;
  std::unique_ptr<faidx_t, FaiDelete> fai;
  mutable std::unique_ptr<BgzfBlocks> blocks;       // of BGZF, if it is a file on this machine
  mutable std::unique_ptr<BGZF, BgzfClose> raw;     // the bytes that the index speaks of
  mutable std::unordered_set<std::string> checked;  // contigs whose place in the file was looked at
  mutable FastaDna dna;
};

/// Throws Error with the fault of a FASTA on this machine for which no index can be right.
void IndexedFasta::Impl::check_whole_fasta() const {
  if (is_remote(path)) return;
  if (bgzf) BgzfBlocks::check_throughout(path, function_name);
  if (const FastaLayout layout = read_fasta_layout(path); !layout.fault.empty()) fail(layout.fault);
}

/// In memory, so that nothing but the FASTA can be at fault.
void IndexedFasta::Impl::build_in_memory() {
  // htslib takes the word after a blank for a name, and the length of a line modulo 2^32.
  check_whole_fasta();
  built_fai.emplace("carbon-fai");
  if (bgzf) built_gzi.emplace("carbon-gzi");
  const auto build_it = [&] {
    return fai_build3(path.c_str(), built_fai->path().c_str(), bgzf ? built_gzi->path().c_str() : nullptr);
  };
  if (build_it() == 0) return;
  if (const std::string uneven = is_remote(path) ? "" : read_fasta_layout(path).uneven; !uneven.empty())
    fail(uneven);
  const std::string reason = is_remote(path) ? "" : htslib_reason(build_it);
  fail("cannot index " + path + (reason.empty() ? "" : " (htslib: " + reason + ")") +
       ": all lines of a sequence except the last must have the same length, each name must have a sequence, "
       "and the file must be complete; correct the file");
}

/// Throws Error for an index with which the FASTA cannot be read: with the fault of the FASTA if no index
/// could be right, for then it would not help to build another.
void IndexedFasta::Impl::refuse_index(const std::string& message) const {
  check_whole_fasta();
  fail(message + (built_fai ? "; the index was built in this run, so the FASTA is being changed or its disk "
                              "fails: run again when the FASTA is complete"
                            : "; delete the index so that it is built again"));
}

/// Throws Error if the index is that of a shorter or a longer file: contigs would be missing without a word.
void IndexedFasta::Impl::check_complete() const {
  if (!has_unindexed()) return;
  if (is_remote(path))
    refuse_index("the index " + fai_path + " ends before " + path + ", which has further sequences");
  const FastaLayout layout = read_fasta_layout(path);
  const auto missing = std::find_if(layout.names.begin(), layout.names.end(),
                                    [&](const std::string& name) { return !entries.contains(name); });
  if (missing != layout.names.end())
    refuse_index("the index " + fai_path + " is not that of the whole file: it lacks " + *missing +
                 (layout.names.size() > names.size() + 1 ? " and other sequences" : "") + " of " + path);
  warn_of_repeated_names(layout);
}

/// Warns if sequences have the name of an earlier one. As with samtools, the index has only the first of
/// them.
void IndexedFasta::Impl::warn_of_repeated_names(const FastaLayout& layout) const {
  if (layout.repeated == 0) return;
  log.warning(function_name, path + ": " + std::to_string(layout.repeated) +
                                 (layout.repeated == 1 ? " sequence has" : " sequences have") +
                                 " the name of an earlier one (" + layout.repeated_name +
                                 "), and only the first of each name is read; rename the others if they are "
                                 "needed");
}

/// Whether the file has sequences that are not in the index: the header of each contig must follow the end of
/// the contig before. It is looked for where there is more than the name between them, of files with many
/// contigs only where there is much more, and of a file elsewhere only at the end. Throws Error if the file
/// ends before the index does.
bool IndexedFasta::Impl::has_unindexed() const {
  constexpr size_t kManyContigs = 10'000;
  constexpr int64_t kRoom = 512, kHeader = int64_t{1} << 16;
  std::vector<std::pair<int64_t, const std::string*>> in_order;  // where contigs begin, and their names
  for (const auto& [name, entry] : entries) in_order.emplace_back(entry.offset, &name);
  std::sort(in_order.begin(), in_order.end());
  int64_t end = 0;
  for (const auto& [offset, name] : in_order) {
    const int64_t gap = is_remote(path) ? 0 : offset - end;
    if (gap > kHeader) return true;
    const auto needed = static_cast<int64_t>(name->size()) + 3;  // between newlines, and after '>'
    const bool has_room = gap > needed && (names.size() <= kManyContigs || gap > kRoom);
    const std::string between = has_room ? read_around(end, offset) : "";
    if (std::count(between.begin(), between.end(), '>') > 1 &&
        between.find("\n>", between.find('>')) != std::string::npos)
      return true;
    end = entries.at(*name).end();
  }
  const int64_t last = std::max<int64_t>(end - 1, 0);
  const std::string rest = read_around(last, last + kHeader);
  if (rest.empty())
    refuse_index(
        "the index " + fai_path + " goes on after the end of " + path +
        ": the FASTA is cut, or the index is that of another file; copy the FASTA again if it is cut");
  return rest.find('>', static_cast<size_t>(end - last)) != std::string::npos;
}

/// An index beside the FASTA is a convenience for later runs.
void IndexedFasta::Impl::build() {
  log.info(function_name, "building the index of " + path);
  build_in_memory();
  std::string reason = "it has none at its address";
  try {
    if (!is_remote(path)) return write_beside();
  } catch (const Error& error) {
    reason = error.what();
  }
  log.warning(function_name, "cannot write an index beside " + path + " (" + reason +
                                 "), so it is built in memory on every run; run samtools faidx once where it "
                                 "can be written");
  fai_path = built_fai->path();
  if (bgzf) gzi_path = built_gzi->path();
}

void IndexedFasta::Impl::write_beside() const {
  std::optional<TextOutput> gzi;
  if (bgzf) {
    gzi.emplace(gzi_path);
    gzi->write(built_gzi->bytes());
    gzi->finish();
  }
  TextOutput fai(fai_path);
  fai.write(built_fai->bytes());
  fai.finish();
  // The .gzi comes first, because a task that finds the .fai expects both.
  if (gzi) gzi->commit();
  fai.commit();
}

void IndexedFasta::Impl::warn_if_stale() const {
  struct stat fasta = {}, index = {};
  if (stat(path.c_str(), &fasta) != 0 || stat(fai_path.c_str(), &index) != 0) return;
  if (index.st_mtime < fasta.st_mtime) {
    log.warning(function_name,
                "the index " + fai_path + " is older than the FASTA; delete it if the FASTA changed");
  }
}

/// Reads the index, because htslib 1.16 returns lengths as int and believes every number.
void IndexedFasta::Impl::read_index() {
  TextInput input(fai_path, function_name);
  std::string line;
  while (input.line(line)) {
    const size_t name_end = line.find('\t');
    const std::optional<FaiEntry> entry = name_end == std::string::npos
                                              ? std::nullopt
                                              : parse_entry(std::string_view(line).substr(name_end + 1));
    if (name_end == 0 || !entry) {
      refuse_index(input.where() + ": this is not a line of a FASTA index");
    }
    std::string name = line.substr(0, name_end);
    if (entries.emplace(name, *entry).second) names.push_back(std::move(name));
  }
  if (names.empty()) fail(path + " has no sequences according to its index " + fai_path);
  // Nobody fetches bases from such a contig, so it is looked at here.
  for (const auto& [name, entry] : entries)
    if (entry.length == 0) check_place(name, entry);
}

/// Bytes [begin, end) of the decompressed file, or fewer at its end.
std::string IndexedFasta::Impl::read_around(int64_t begin, int64_t end) const {
  if (!raw) {
    raw.reset(bgzf_open(path.c_str(), "r"));
    if (!raw || (bgzf && bgzf_index_load(raw.get(), gzi_path.c_str(), nullptr) != 0))
      fail("cannot read " + path + " by its index; delete the index so that it is built again");
  }
  if (blocks) blocks->check_place(static_cast<uint64_t>(begin));
  std::string bytes(static_cast<size_t>(end - begin), '\0');
  const bool found = bgzf_useek(raw.get(), begin, SEEK_SET) == 0;
  const ssize_t got = found ? bgzf_read(raw.get(), bytes.data(), bytes.size()) : -1;
  bytes.resize(static_cast<size_t>(std::max<ssize_t>(got, 0)));
  return bytes;
}

/// An index of another file, or with wrong numbers, would give wrong bases. So its numbers must lead to a
/// line with the name before the bases, to ends of lines where they are said to be, and to the end of the
/// sequence.
void IndexedFasta::Impl::check_place(const std::string& contig, const FaiEntry& entry) const {
  constexpr int64_t kHeader = int64_t{1} << 16;
  const auto wrong = [&] {
    refuse_index("the index " + fai_path + " does not match " + path + " at " + contig);
  };
  const int64_t begin = std::max<int64_t>(0, entry.offset - kHeader);
  const std::string before = read_around(begin, entry.offset);
  if (static_cast<int64_t>(before.size()) != entry.offset - begin || !before.ends_with('\n')) wrong();
  const size_t newline = before.size() < 2 ? std::string::npos : before.rfind('\n', before.size() - 2);
  // A description may be longer than what was read.
  if (newline != std::string::npos || begin == 0) {
    const std::string_view header =
        std::string_view(before).substr(newline == std::string::npos ? 0 : newline + 1);
    if (!header.starts_with('>') || header.substr(1, contig.size()) != contig ||
        !is_space(header[1 + contig.size()]))
      wrong();
  }
  constexpr const char* kSpace = " \t\r\n\v\f";
  if (entry.length == 0) {
    const std::string after = read_around(entry.offset, entry.offset + kHeader);
    const size_t next = after.find_first_not_of(kSpace);
    if (next != std::string::npos && after[next] != '>') wrong();
    return;
  }
  const auto all = [](std::string_view text, auto kind) {
    return std::all_of(text.begin(), text.end(), [&](unsigned char c) { return kind(c); });
  };
  if (entry.length > entry.line_bases) {
    constexpr int64_t kLongestEnd = 256;  // bytes after the bases of a line, usually one
    const int64_t line_end = entry.offset + entry.line_bases;
    if (entry.line_bytes - entry.line_bases > kLongestEnd) wrong();
    const std::string ending = read_around(line_end - 1, entry.offset + entry.line_bytes);
    if (ending.size() < 2 || is_space(ending[0]) || !ending.ends_with('\n') ||
        !all(std::string_view(ending).substr(1), is_space))
      wrong();
  }
  const std::string last = read_around(entry.end() - 1, entry.end() + kHeader);
  if (last.empty() || is_space(last[0])) wrong();
  const size_t next = last.find_first_not_of(kSpace, 1);
  if (next != std::string::npos && last[next] != '>') wrong();
}

std::string IndexedFasta::Impl::fetch(const std::string& contig, int64_t begin, int64_t end) const {
  const auto found = entries.find(contig);
  const std::string where = contig + ":" + std::to_string(begin + 1) + "-" + std::to_string(end);
  if (found == entries.end()) throw Error("fetch_fasta", "no sequence " + contig + " in " + path);
  if (begin < 0 || begin > end || end > found->second.length) {
    throw Error("fetch_fasta", where + " does not lie within " + path + ", where " + contig + " has " +
                                   count_of(found->second.length, "base"));
  }
  if (begin == end) return {};
  if (!checked.contains(contig)) {
    check_place(contig, found->second);
    checked.insert(contig);
  }
  if (blocks) {
    const FaiEntry& entry = found->second;
    // check_place() has seen that the index is right where the contig begins.
    blocks->check_between(static_cast<uint64_t>(entry.offset), static_cast<uint64_t>(entry.byte_of(end - 1)));
    blocks->check_place(static_cast<uint64_t>(entry.byte_of(begin)));
  }
  hts_pos_t length = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      faidx_fetch_seq64(fai.get(), contig.c_str(), begin, end - 1, &length), &std::free);
  if (!text || length != end - begin) {
    throw Error(
        "fetch_fasta",
        "cannot read " + where + " from " + path +
            ": the file is damaged or does not match its index; delete the index if the FASTA changed");
  }
  std::string bases(text.get(), static_cast<size_t>(length));
  for (const char c : bases) {
    if (!is_sequence_byte(c)) {
      throw Error("fetch_fasta", where + " in " + path +
                                     " has other bytes than letters, '*' and '-': the index " + fai_path +
                                     " does not match the FASTA; delete the index so that it is built again");
    }
  }
  dna.read(bases, where + " in " + path);
  return bases;
}

IndexedFasta::IndexedFasta(const std::string& path, Log& log)
    : impl_(std::make_unique<Impl>(split_index_name(path), log)) {}
IndexedFasta::~IndexedFasta() = default;
IndexedFasta::IndexedFasta(IndexedFasta&&) noexcept = default;
const std::string& IndexedFasta::path() const {
  return impl_->path;
}
Log& IndexedFasta::log() const {
  return impl_->log;
}
const std::vector<std::string>& IndexedFasta::names() const {
  return impl_->names;
}

int64_t IndexedFasta::length(const std::string& contig) const {
  const auto found = impl_->entries.find(contig);
  return found == impl_->entries.end() ? -1 : found->second.length;
}

std::string IndexedFasta::fetch(const std::string& contig, int64_t begin, int64_t end) const {
  return impl_->fetch(contig, begin, end);
}

}  // namespace carbon
