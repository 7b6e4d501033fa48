// What reads FASTA from beginning to end: the letters of sequences, sequential reading in blocks, so that the
// speed does not depend on the lengths of sequences and lines, and the check of a file that is to be indexed.

#include <array>
#include <limits>
#include <string_view>
#include <unordered_set>

#include "src/base/error.hpp"
#include "src/base/json.hpp"
#include "src/base/numbers.hpp"
#include "src/files/file_name.hpp"
#include "src/files/text_input.hpp"
#include "src/formats/fasta.hpp"

namespace carbon {
namespace {

constexpr const char* kNoName =
    "a record without a name after '>'; write the name of the sequence directly after '>', without a blank "
    "between them";

// Letters of amino acids that are no IUPAC code of bases: a third of the letters of proteins. X is left out,
// because it also masks bases.
constexpr std::string_view kOnlyAminoAcids = "EFIJLOPQZefijlopqz";

constexpr std::array<bool, 256> amino_acid_table() {
  std::array<bool, 256> table{};
  for (const char c : kOnlyAminoAcids) table[static_cast<unsigned char>(c)] = true;
  return table;
}
constexpr std::array<bool, 256> kIsAminoAcid = amino_acid_table();

// Fewer such letters may be damage in DNA, whose windows have no score then.
constexpr size_t kFewest = 5;
constexpr size_t kOneIn = 10;

constexpr const char* function_name = "read_fasta";

std::string describe(unsigned char c) {
  if (c > ' ' && c < 127) return std::string("'") + static_cast<char>(c) + "'";
  return "byte 0x" + hex_text(c, 2);
}

constexpr size_t kNameBytes = size_t{1} << 16;  // more of a header than any name has

/// Takes the lines of a file, of which only beginnings and lengths are kept.
class LayoutReader {
 public:
  explicit LayoutReader(const std::string& path) : path_(path), input_(path, "open_fasta") {}

  FastaLayout read() {
    for (std::string_view block = input_.peek(); !block.empty(); block = input_.peek()) {
      const size_t newline = block.find('\n');
      const bool ends = newline != std::string_view::npos;
      take_part(block.substr(0, newline));
      input_.consume(ends ? newline + 1 : block.size());
      if (!ends) continue;
      end_line();
      if (!layout_.fault.empty()) return layout_;
      input_.count_line();
    }
    if (bytes_ > 0) end_line();
    return layout_;
  }

 private:
  void take_part(std::string_view part) {
    if (beginning_.size() < kNameBytes) beginning_ += part.substr(0, kNameBytes - beginning_.size());
    bytes_ += static_cast<int64_t>(part.size());
    if (!part.empty()) carriage_return_ = part.back() == '\r';
  }

  void end_line() {
    const int64_t length = bytes_ - (carriage_return_ ? 1 : 0);
    if (beginning_.starts_with('>'))
      take_header();
    else if (names_.empty() && length > 0)
      layout_.fault =
          where() + (beginning_.starts_with("##fileformat=VCF")
                         ? ": this is VCF, and not FASTA; are the reference and the variants swapped?"
                         : ": '" + printable(beginning_.substr(0, 20)) +
                               "' before the first '>'; this is not a FASTA file");
    else
      take_bases(length);
    beginning_.clear();
    bytes_ = 0;
    carriage_return_ = false;
  }

  void take_header() {
    size_t end = 1;
    while (end < beginning_.size() && !is_fasta_space(beginning_[end])) ++end;
    name_ = beginning_.substr(1, end - 1);
    full_ = 0;
    shorter_ = false;
    if (name_.empty())
      layout_.fault = where() + ": " + kNoName;
    else if (names_.insert(name_).second)
      layout_.names.push_back(name_);
    else if (++layout_.repeated == 1)
      layout_.repeated_name = name_;
  }

  void take_bases(int64_t length) {
    // An index has 32 bits for the length of a line with its end.
    if (length > int64_t{std::numeric_limits<uint32_t>::max()} - 2)
      layout_.fault = where() + ": a line of " + name_ + " has " + std::to_string(length) +
                      " bases, which is too long for an index (4,294,967,293 at most); wrap the lines, e.g. "
                      "with seqtk seq -l 80 or fold -w 80";
    if (layout_.uneven.empty() && length > 0 && (shorter_ || (full_ > 0 && length > full_)))
      layout_.uneven = where() + ": a line of " + name_ + " with " + std::to_string(length) +
                       " bases follows lines with " + std::to_string(shorter_ ? last_ : full_) +
                       "; all lines of a sequence except the last must have the same length: wrap them "
                       "anew, e.g. with seqtk seq -l 80";
    if (full_ == 0) full_ = length;
    shorter_ = shorter_ || length < full_;
    last_ = length;
  }

  /// A line is counted when it ends, so the current line has the next number.
  std::string where() const { return path_ + ":" + std::to_string(input_.line_number() + 1); }

  std::string path_;
  TextInput input_;
  FastaLayout layout_;
  std::unordered_set<std::string> names_;
  // The line at hand.
  std::string beginning_;
  int64_t bytes_ = 0;
  bool carriage_return_ = false;
  // The sequence at hand: its name, the length of its lines, that of the last one, and whether it was
  // shorter.
  std::string name_;
  int64_t full_ = 0, last_ = 0;
  bool shorter_ = false;
};

}  // namespace

bool read_as_dna(std::string& sequence, const std::string& where, const std::string& function) {
  size_t amino_acids = 0;
  bool rna = false;
  for (char& c : sequence) {
    amino_acids += kIsAminoAcid[static_cast<unsigned char>(c)] ? 1 : 0;
    const char letter = dna_letter(c);
    rna = rna || letter != c;
    c = letter;
  }
  if (amino_acids >= kFewest && amino_acids * kOneIn >= sequence.size())
    throw Error(function,
                where + " looks like a protein: " + std::to_string(amino_acids) + " of " +
                    std::to_string(sequence.size()) +
                    " letters (such as E, F, I, L, P, Q) are those of amino acids only, and the models "
                    "read DNA; if it is DNA, write N for these letters");
  return rna;
}

std::string read_as_t(const std::string& where) {
  return where + " has the letter U; it is read as T";
}

void FastaDna::read(std::string& sequence, const std::string& where) {
  if (read_as_dna(sequence, where, function_) && !std::exchange(rna_seen_, true))
    log_.warning(function_, read_as_t(where));
}

struct FastaReader::Impl {
  Impl(const std::string& path, Log& log)
      : shown(shown_path(path)), input(path, function_name), dna(log, function_name) {}

  /// A line is counted when it ends, so the current line has the next number.
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(function_name, shown + ":" + std::to_string(input.line_number() + 1) + ": " + what);
  }

  bool next(FastaRecord& record);
  void read_header(FastaRecord& record);
  void read_sequence(std::string& sequence);
  void append_line(std::string_view part, std::string& sequence) const;

  std::string shown;
  TextInput input;
  FastaDna dna;
  bool started = false;
};

bool FastaReader::Impl::next(FastaRecord& record) {
  record.name.clear();
  record.sequence.clear();
  while (!started) {
    const std::string_view block = input.peek();
    if (block.empty()) {
      throw Error(function_name, shown + ": no sequence in the file (it is empty); give a FASTA file");
    }
    const char c = block.front();
    if (c == '>') {
      started = true;
      break;
    }
    if (c == '@') fail("this looks like FASTQ, not FASTA; convert it, e.g. with samtools fasta");
    if (c == '\n') input.count_line();
    if (c != '\n' && !is_fasta_space(c)) {
      fail(describe(c) + " before the first '>'; this is not a FASTA file" +
           (c == '#' ? " (carbon vep scores the variants of a VCF)" : ""));
    }
    input.consume(1);
  }
  if (input.peek().empty()) return false;
  read_header(record);
  read_sequence(record.sequence);
  dna.read(record.sequence, shown + ": " + record.name);
  return true;
}

void FastaReader::Impl::read_header(FastaRecord& record) {
  input.consume(1);  // '>'
  bool in_name = true, carriage_return = false;
  for (std::string_view block = input.peek(); !block.empty(); block = input.peek()) {
    size_t used = 0;
    bool ended = false;
    while (used < block.size() && !ended) {
      const unsigned char c = block[used++];
      if (c == '\n') {
        ended = true;
        break;
      }
      if (carriage_return)
        fail("a carriage return inside the header line; convert the file to Unix line ends");
      carriage_return = c == '\r';
      if (is_fasta_space(c)) in_name = false;
      if (!in_name) continue;
      if (c < ' ' || c == 127)
        fail(describe(c) + " in a sequence name; names may only have printable characters");
      record.name += static_cast<char>(c);
    }
    if (ended && record.name.empty()) fail(kNoName);
    input.consume(used);
    if (ended) {
      input.count_line();
      return;
    }
  }
  if (record.name.empty()) fail(kNoName);
}

void FastaReader::Impl::read_sequence(std::string& sequence) {
  bool line_start = true;
  for (std::string_view block = input.peek(); !block.empty(); block = input.peek()) {
    if (line_start && block.front() == '>') return;
    const size_t newline = block.find('\n');
    append_line(block.substr(0, newline), sequence);
    line_start = newline != std::string_view::npos;
    input.consume(line_start ? newline + 1 : block.size());
    if (line_start) input.count_line();
  }
}

void FastaReader::Impl::append_line(std::string_view part, std::string& sequence) const {
  size_t good = 0;
  while (good < part.size() && is_sequence_byte(part[good])) ++good;
  sequence.append(part.substr(0, good));
  for (const char c : part.substr(good)) {
    if (is_sequence_byte(c)) {
      sequence += c;
    } else if (!is_fasta_space(c)) {
      fail(describe(c) + " in a sequence line; only letters, '*' and '-' are allowed");
    }
  }
}

FastaReader::FastaReader(const std::string& path, Log& log) : impl_(std::make_unique<Impl>(path, log)) {}
FastaReader::~FastaReader() = default;
FastaReader::FastaReader(FastaReader&&) noexcept = default;
bool FastaReader::next(FastaRecord& record) {
  return impl_->next(record);
}

FastaLayout read_fasta_layout(const std::string& path) {
  return LayoutReader(path).read();
}

}  // namespace carbon
