// Sequential reading of FASTA in blocks, so that the speed does not depend on the lengths of sequences and
// lines.

#include "src/base/error.hpp"
#include "src/base/numbers.hpp"
#include "src/files/text_input.hpp"
#include "src/formats/fasta.hpp"
#include "src/formats/fasta_alphabet.hpp"

namespace carbon {

namespace {

constexpr const char* function_name = "read_fasta";

std::string describe(unsigned char c) {
  if (c > ' ' && c < 127) return std::string("'") + static_cast<char>(c) + "'";
  return "byte 0x" + hex_text(c, 2);
}

}  // namespace

struct FastaReader::Impl {
  Impl(const std::string& path, Log& log)
      : shown(path == "-" ? "standard input" : path), input(path, function_name), dna(log, function_name) {}

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
      fail(describe(c) + " before the first '>'; this is not a FASTA file");
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
    if (ended && record.name.empty()) fail("a record without a name after '>'");
    input.consume(used);
    if (ended) {
      input.count_line();
      return;
    }
  }
  if (record.name.empty()) fail("a record without a name after '>'");
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

}  // namespace carbon
