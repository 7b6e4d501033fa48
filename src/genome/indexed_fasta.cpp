// Random access to a FASTA file through htslib's faidx. The index is built so that parallel tasks never read
// a part of one.

#include <fcntl.h>
#include <htslib/faidx.h>
#include <htslib/hfile.h>
#include <htslib/hts.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <unordered_map>

#include "src/base/error.hpp"
#include "src/genome/fasta.hpp"
#include "src/genome/fasta_alphabet.hpp"
#include "src/genome/partial_files.hpp"
#include "src/genome/text_input.hpp"

namespace carbon {

namespace {

constexpr const char* function_name = "open_fasta";

[[noreturn]] void fail(const std::string& message) {
  throw Error(function_name, message);
}

bool exists(const std::string& path) {
  return access(path.c_str(), F_OK) == 0;
}

/// Whether the FASTA is BGZF. Throws Error for a file that faidx cannot index.
bool check_fasta(const std::string& path) {
  struct stat info = {};
  if (stat(path.c_str(), &info) != 0) fail("cannot open " + path + ": " + std::strerror(errno));
  if (!S_ISREG(info.st_mode)) {
    fail(path + " is not a regular file; random access needs one, so write the FASTA to disk first");
  }
  if (info.st_size == 0) fail(path + " is empty; give a FASTA file");
  hFILE* file = hopen(path.c_str(), "r");
  if (!file) fail("cannot open " + path + ": " + std::strerror(errno));
  htsFormat format = {};
  const int detected = hts_detect_format(file, &format);
  const int closed = hclose(file);
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

int64_t parse_number(std::string_view text) {
  int64_t value = -1;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  return code == std::errc() && end == text.data() + text.size() ? value : -1;
}

struct FaiDelete {
  void operator()(faidx_t* fai) const { fai_destroy(fai); }
};

}  // namespace

struct IndexedFasta::Impl {
  Impl(const std::string& fasta, Log& to) : log(to), path(fasta), bgzf(check_fasta(fasta)) {
    fai_path = path + ".fai";
    gzi_path = bgzf ? path + ".gzi" : "";
    if (!exists(fai_path) || (bgzf && !exists(gzi_path))) {
      build();
    } else {
      warn_if_stale();
    }
    read_index();
    fai.reset(fai_load3(path.c_str(), fai_path.c_str(), bgzf ? gzi_path.c_str() : nullptr, 0));
    if (!fai)
      fail("cannot load the index " + fai_path + " of " + path + "; delete it so that it is built again");
  }

  void build();
  void build_index(const std::string& fai_name, const std::string& gzi_name) const;
  void warn_if_stale() const;
  void read_index();
  std::string fetch(const std::string& contig, int64_t begin, int64_t end) const;

  Log& log;
  std::string path, fai_path, gzi_path;
  bool bgzf = false;
  std::optional<PrivateDirectory> private_directory;  // for the index of a FASTA in a read-only directory
  std::vector<std::string> names;
  std::unordered_map<std::string, int64_t> lengths;
  std::unique_ptr<faidx_t, FaiDelete> fai;
};

void IndexedFasta::Impl::build_index(const std::string& fai_name, const std::string& gzi_name) const {
  if (fai_build3(path.c_str(), fai_name.c_str(), bgzf ? gzi_name.c_str() : nullptr) == 0) return;
  fail("cannot index " + path +
       " (see the message of htslib above, if any): all lines of a sequence except the last must have the "
       "same "
       "length, each name must have a sequence, and the file must be complete; correct the file");
}

void IndexedFasta::Impl::build() {
  log.info(function_name, "building the index of " + path);
  int error = 0;
  const auto new_fai = PartialFile::create(fai_path, std::nullopt, error);
  const auto new_gzi = new_fai && bgzf ? PartialFile::create(gzi_path, std::nullopt, error) : nullptr;
  if (new_fai && (new_gzi || !bgzf)) {
    build_index(new_fai->path(), new_gzi ? new_gzi->path() : "");
    // The .gzi comes first, because a task that finds the .fai expects both.
    if ((new_gzi && !new_gzi->complete()) || !new_fai->complete()) {
      fail("cannot rename the finished index to " + fai_path + ": " + std::strerror(errno));
    }
    return;
  }
  private_directory.emplace();
  log.warning(function_name, "cannot write an index beside " + path + " (" + std::strerror(error) +
                                 "), so a temporary one is built in " + private_directory->path() +
                                 " on every run; run samtools faidx once where it can be written");
  fai_path = private_directory->file("index.fai");
  if (bgzf) gzi_path = private_directory->file("index.gzi");
  build_index(fai_path, gzi_path);
}

void IndexedFasta::Impl::warn_if_stale() const {
  struct stat fasta = {}, index = {};
  if (stat(path.c_str(), &fasta) != 0 || stat(fai_path.c_str(), &index) != 0) return;
  if (index.st_mtime < fasta.st_mtime) {
    log.warning(function_name,
                "the index " + fai_path + " is older than the FASTA; delete it if the FASTA changed");
  }
}

/// Reads names and lengths from the index, because htslib 1.16 returns lengths as int.
void IndexedFasta::Impl::read_index() {
  TextInput input(fai_path, function_name);
  std::string line;
  while (input.line(line)) {
    const size_t name_end = line.find('\t');
    const size_t length_end = name_end == std::string::npos ? name_end : line.find('\t', name_end + 1);
    const int64_t length =
        length_end == std::string::npos
            ? -1
            : parse_number(std::string_view(line).substr(name_end + 1, length_end - name_end - 1));
    if (name_end == 0 || length < 0) {
      fail(input.where() +
           ": this is not a line of a FASTA index; delete the file so that it is built again");
    }
    std::string name = line.substr(0, name_end);
    if (lengths.emplace(name, length).second) names.push_back(std::move(name));
  }
  if (names.empty()) fail(path + " has no sequences according to its index " + fai_path);
}

std::string IndexedFasta::Impl::fetch(const std::string& contig, int64_t begin, int64_t end) const {
  const auto found = lengths.find(contig);
  const std::string where = contig + ":" + std::to_string(begin + 1) + "-" + std::to_string(end);
  if (found == lengths.end()) throw Error("fetch_fasta", "no sequence " + contig + " in " + path);
  if (begin < 0 || begin > end || end > found->second) {
    throw Error("fetch_fasta", where + " does not lie within " + path + ", where " + contig + " has " +
                                   std::to_string(found->second) + " bases");
  }
  if (begin == end) return {};
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
  return bases;
}

IndexedFasta::IndexedFasta(const std::string& path, Log& log) : impl_(std::make_unique<Impl>(path, log)) {}
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
  const auto found = impl_->lengths.find(contig);
  return found == impl_->lengths.end() ? -1 : found->second;
}

std::string IndexedFasta::fetch(const std::string& contig, int64_t begin, int64_t end) const {
  return impl_->fetch(contig, begin, end);
}

}  // namespace carbon
