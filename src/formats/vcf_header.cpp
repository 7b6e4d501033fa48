#include "src/formats/vcf_header.hpp"

#include <htslib/hfile.h>
#include <htslib/tbx.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <optional>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "src/base/error.hpp"
#include "src/files/htslib_messages.hpp"
#include "src/formats/vcf.hpp"

namespace carbon {
namespace {

// Millions of contigs with long names.
constexpr size_t kMostBytes = size_t{1} << 30, kLongestLine = size_t{1} << 29;
// Lines ##KEY=VALUE that htslib, up to 1.16, compares with all others, so that its time grows with the
// square: up to kFewPlainLines in a header, else the first of each group (parse_vcf_header()).
constexpr uint64_t kFewPlainLines = 100, kMostPlainGroups = 10'000, kMostPlainLines = 1'000'000;
// IDX is the place of a name in a table that has so many places. Numbers of removed names stay free.
constexpr uint64_t kMostFreeNumbers = 1 << 20, kNumbersPerLine = 16;

[[noreturn]] void fail(const std::string& shown, const std::string& what) {
  throw Error("read_vcf", shown + ": " + what);
}

[[noreturn]] void fail_malformed(const std::string& shown, const std::string& reason = "") {
  fail(shown, "the header cannot be read: it is malformed or cut, or there is no #CHROM line" +
                  (reason.empty() ? "" : " (htslib: " + reason + ")") +
                  "; if the file is compressed, test it with 'gzip -t' and copy it again");
}

[[noreturn]] void fail_large(const std::string& shown) {
  fail(shown, "the header is larger than 1 GiB; the file is damaged");
}

/// Whether a line of a header is ##KEY=VALUE and not ##KEY=<...>. The first line, ##fileformat, has rules of
/// its own in htslib.
bool is_plain(std::string_view line) {
  const size_t equals = line.find('=');
  return line.starts_with("##") && equals != std::string_view::npos && equals > 2 &&
         !line.substr(equals + 1).starts_with('<') && !line.starts_with("##fileformat=");
}

/// Calls `use` with each line of a text, without its end.
template <class Use>
void for_lines(std::string_view text, const Use& use) {
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    use(text.substr(begin, end - begin));
    begin = end + 1;
  }
}

struct LineDelete {
  void operator()(bcf_hrec_t* line) const { bcf_hrec_destroy(line); }
};
using LinePtr = std::unique_ptr<bcf_hrec_t, LineDelete>;

/// A plain line as htslib has it; null if it does not take it for one.
LinePtr parse_plain(const bcf_hdr_t* header, std::string_view text) {
  int length = 0;
  LinePtr line(bcf_hdr_parse_line(header, std::string(text).c_str(), &length));
  if (!line || !line->value || line->nkeys > 0) return nullptr;
  line->type = BCF_HL_GEN;  // which htslib says when it takes a line into a header
  return line;
}

/// Plain lines that follow each other.
struct PlainGroup {
  LinePtr first;  // as htslib will make it anew
  std::vector<LinePtr> others;

  bool begins_with(const bcf_hrec_t& line) const {
    return line.type == BCF_HL_GEN && line.value && std::strcmp(line.key, first->key) == 0 &&
           std::strcmp(line.value, first->value) == 0;
  }
};

/// Gives a header the other lines of each group. Its first lines are in it, in the order of the groups.
void add_plain_lines(bcf_hdr_t* header, std::vector<PlainGroup>& groups) {
  size_t count = static_cast<size_t>(header->nhrec);
  for (const PlainGroup& group : groups) count += group.others.size();
  auto** const lines = static_cast<bcf_hrec_t**>(std::malloc(count * sizeof(bcf_hrec_t*)));
  if (!lines) throw std::bad_alloc();
  bcf_hrec_t** end = lines;
  auto group = groups.begin();
  for (int i = 0; i < header->nhrec; ++i) {
    *end++ = header->hrec[i];
    if (group == groups.end() || !group->begins_with(*header->hrec[i])) continue;
    for (LinePtr& line : group->others) *end++ = line.release();
    ++group;
  }
  std::free(header->hrec);
  header->hrec = lines;
  header->nhrec = static_cast<int>(end - lines);
}

/// The number after IDX= in a line ##KEY=<NAME=VALUE,...>, not that in a quoted text; a very large one for
/// more digits than any number has.
std::optional<uint64_t> index_of(std::string_view line) {
  for (size_t at = 0; at < line.size(); ++at) {
    const char c = line[at];
    if (c == '=' && line.substr(at + 1).starts_with('"')) {
      for (at += 2; at < line.size() && line[at] != '"'; ++at)
        if (line[at] == '\\') ++at;
      continue;
    }
    if (c != '<' && c != ',') continue;
    std::string_view rest = line.substr(at + 1);
    rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
    if (!rest.starts_with("IDX=")) continue;
    rest.remove_prefix(std::min(rest.find_first_not_of("+ \"", 4), rest.size()));
    uint64_t number = 0;
    for (const char digit : rest.substr(0, 18)) {
      if (digit < '0' || digit > '9') break;
      number = 10 * number + static_cast<uint64_t>(digit - '0');
    }
    return number;
  }
  return std::nullopt;
}

/// Throws Error if a sample of the #CHROM line has no name. Some versions of htslib take two tabs for an
/// empty name, or for a name with the end of the line in it.
void check_samples(const std::string& shown, std::string_view line) {
  for (size_t column = 1, tab = line.find('\t'); tab != std::string_view::npos; ++column) {
    const size_t begin = tab + 1;
    tab = line.find('\t', begin);
    const std::string_view name = line.substr(begin, tab - begin);
    if (column >= 9 && (name.empty() || name == "\r"))
      fail(shown, "sample " + std::to_string(column - 8) +
                      " has no name, so no program could read the output; name it in the #CHROM line");
  }
}

/// The text of a BCF header, up to the NUL that ends it. Its length is a claim of the file, so that memory is
/// taken as the text arrives.
std::string read_binary_text(BGZF* stream, const std::string& shown) {
  unsigned char start[9];
  if (bgzf_read(stream, start, sizeof start) != sizeof start || std::memcmp(start, "BCF\2\2", 5) != 0)
    fail_malformed(shown);
  uint64_t left = start[5] | start[6] << 8 | start[7] << 16 | static_cast<uint64_t>(start[8]) << 24;
  std::string text;
  char block[1 << 16];
  while (left > 0) {
    const ssize_t got = bgzf_read(stream, block, std::min<uint64_t>(left, sizeof block));
    if (got <= 0) fail_malformed(shown);
    if (text.size() > kMostBytes) fail_large(shown);
    text.append(block, static_cast<size_t>(got));
    left -= static_cast<uint64_t>(got);
  }
  text.resize(std::min(text.find('\0'), text.size()));
  return text;
}

/// The next line, without its end; false at the end of the file. `ended`: it has a newline.
bool read_line(htsFile* file, const std::string& shown, std::string& line, bool& ended) {
  line.clear();
  line.reserve(1 << 16);  // doubled, it reaches the limit and not more
  int c = 0;
  while ((c = file->is_bgzf ? bgzf_getc(file->fp.bgzf) : hgetc(file->fp.hfile)) >= 0 && c != '\n') {
    if (line.size() == kLongestLine)
      fail(shown, "a line of the header is longer than 512 MiB; the file is damaged");
    line += static_cast<char>(c);
  }
  if (file->is_bgzf ? c < -1 : herrno(file->fp.hfile) != 0) fail_malformed(shown);
  ended = c >= 0;
  const bool found = ended || !line.empty();
  if (line.ends_with('\r')) line.pop_back();
  return found;
}

}  // namespace

bool VcfHeaderLines::add(std::string_view line) {
  if (line.empty()) return false;
  if (line[0] != '#') fail_malformed(shown_);
  ++lines_;
  if (line.find('\0') != std::string_view::npos)
    fail(shown_, "a NUL byte in line " + std::to_string(lines_) + " of the header; the file is damaged");
  if (text_.size() + line.size() > kMostBytes) fail_large(shown_);
  const bool plain = is_plain(line);
  if (plain && !after_plain_ && ++plain_groups_ > kMostPlainGroups)
    fail(shown_, "in more than " + std::to_string(kMostPlainGroups) +
                     " places of the header, lines of the form ##KEY=VALUE follow others; put them together");
  after_plain_ = plain;
  if (plain && ++plain_lines_ > kMostPlainLines)
    fail(shown_,
         "the header has more than a million lines of the form ##KEY=VALUE; remove those that nobody needs");
  if (const std::optional<uint64_t> number = index_of(line); number && *number > largest_) {
    largest_ = *number;
    largest_line_ = lines_;
  }
  text_.append(line).append("\n");
  if (line.starts_with("##")) return false;
  check_samples(shown_, line);
  return true;
}

VcfHeaderPtr VcfHeaderLines::parse() {
  if (largest_ > kMostFreeNumbers + kNumbersPerLine * lines_)
    fail(shown_, "line " + std::to_string(largest_line_) +
                     " of the header has the number IDX=" + std::to_string(largest_) +
                     ", far more than the header has names; remove IDX from its lines");
  VcfHeaderPtr header = text_.empty() ? nullptr : parse_vcf_header(text_);
  if (!header)
    fail_malformed(shown_, text_.empty() ? "" : htslib_reason([this] { (void)parse_vcf_header(text_); }));
  return header;
}

VcfHeaderPtr parse_vcf_header(const std::string& text) {
  VcfHeaderPtr header(bcf_hdr_init("r"));
  if (!header) throw std::bad_alloc();
  uint64_t plain_lines = 0;
  for_lines(text, [&](std::string_view line) { plain_lines += is_plain(line); });
  std::string kept;
  std::vector<PlainGroup> groups;
  if (plain_lines <= kFewPlainLines) {
    kept = text;
  } else {
    std::unordered_set<std::string_view> seen;  // htslib leaves out a plain line that it has already
    bool in_group = false;
    for_lines(text, [&](std::string_view line) {
      LinePtr plain = is_plain(line) ? parse_plain(header.get(), line) : nullptr;
      if (plain && !seen.insert(line).second) return;
      if (plain && in_group) return groups.back().others.push_back(std::move(plain));
      in_group = plain != nullptr;
      if (plain) groups.push_back({std::move(plain), {}});
      kept.append(line).append("\n");
    });
  }
  if (bcf_hdr_parse(header.get(), kept.data()) < 0) return nullptr;
  if (!groups.empty()) add_plain_lines(header.get(), groups);
  return header;
}

VcfHeaderText read_text_header(htsFile* file, const std::string& shown) {
  VcfHeaderLines header(shown);
  VcfHeaderText out;
  bool columns_seen = false;
  for (std::string line; !columns_seen && read_line(file, shown, line, out.ended);) {
    ++out.lines;
    columns_seen = header.add(line);
  }
  out.header = header.parse();
  out.text = header.text();
  return out;
}

VcfHeaderText read_binary_header(BGZF* stream, const std::string& shown) {
  const std::string text = read_binary_text(stream, shown);
  // By this line programs know that a text is VCF, so without it they could not read what is made of the BCF.
  if (!text.starts_with("##fileformat=VCF"))
    fail(shown, "the header does not begin with ##fileformat=VCF; the file is damaged");
  VcfHeaderLines header(shown);
  VcfHeaderText out;
  bool columns_seen = false;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = std::string_view(text).substr(begin, end - begin);
    if (columns_seen && !line.empty())
      fail(shown, "the header goes on after its #CHROM line; the file is damaged");
    ++out.lines;
    columns_seen = header.add(line) || columns_seen;
    begin = end + 1;
  }
  out.header = header.parse();
  out.text = header.text();
  return out;
}

std::string without_number(std::string_view line) {
  const size_t at = line.rfind(",IDX=");
  if (!line.ends_with('>') || at == std::string_view::npos ||
      line.find_first_not_of("0123456789", at + 5) != line.size() - 1)
    return std::string(line);
  return std::string(line.substr(0, at)) + ">";
}

// bcf_hdr_seqnames() ends the program if the numbers of the contigs have gaps, as those of a BCF may.
std::vector<std::string> contigs_of_header(const bcf_hdr_t* header) {
  std::vector<std::string> names;
  for (int id = 0; id < header->n[BCF_DT_CTG]; ++id)
    if (const bcf_idpair_t& entry = header->id[BCF_DT_CTG][id]; entry.key && entry.val)
      names.emplace_back(entry.key);
  return names;
}

void add_contigs_of_index(const std::string& path, bcf_hdr_t* header) {
  const std::unique_ptr<tbx_t, decltype(&tbx_destroy)> index(
      tbx_index_load3(path.c_str(), nullptr, HTS_IDX_SILENT_FAIL), &tbx_destroy);
  if (!index) return;
  int count = 0;
  const std::unique_ptr<const char*, decltype(&std::free)> names(tbx_seqnames(index.get(), &count),
                                                                 &std::free);
  if (!names) return;
  for (int i = 0; i < count; ++i) {
    const std::string name = names.get()[i];
    // Another name cannot stand in a header line, so that no record of the VCF can have it.
    const bool plain = !name.empty() && fits_contig_line(name) &&
                       std::all_of(name.begin(), name.end(), [](unsigned char c) { return c > ' '; });
    if (!plain || bcf_hdr_name2id(header, name.c_str()) >= 0) continue;
    // A name that is refused is one that htslib would not accept in a record either.
    (void)bcf_hdr_append(header, ("##contig=<ID=" + name + ">").c_str());
  }
  if (bcf_hdr_sync(header) < 0) throw std::bad_alloc();
}

}  // namespace carbon
