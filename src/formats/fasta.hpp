// FASTA: which bytes a sequence may have and what is made of them, reading by an index (plain or BGZF,
// through htslib's faidx), reading from beginning to end, and what of a file an index cannot express.
//
// Coordinates are 0-based half-open. Sequence is returned as in the file (case kept), with T for U.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/base/log.hpp"

namespace carbon {

// Which bytes may occur in a sequence, and what is made of RNA and of proteins, for files and for all that
// clients and plugins send. A model can score only some letters.

/// All letters, and the signs for gaps and stops that alignments and proteins leave in sequences.
inline bool is_sequence_byte(unsigned char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '*' || c == '-';
}

/// The letter of DNA that a letter of RNA stands for: T for U, in either case. All others are as they were.
inline char dna_letter(char c) {
  // U and u differ from T and t in one bit.
  return (c | 0x20) == 'u' ? static_cast<char>(c - ('U' - 'T')) : c;
}

/// Turns RNA into DNA: U becomes T, in either case. Returns whether there was one; read_as_t() says so.
/// Throws Error of `function` if so many letters stand for amino acids and for no base that this is a
/// protein. `where` is the place in messages.
bool read_as_dna(std::string& sequence, const std::string& where, const std::string& function);
std::string read_as_t(const std::string& where);

/// Reads the sequences of a file as DNA: read_as_dna() for each, with a warning the first time.
class FastaDna {
 public:
  /// `function` is the caller in messages.
  FastaDna(Log& log, std::string function) : log_(log), function_(std::move(function)) {}
  void read(std::string& sequence, const std::string& where);

 private:
  Log& log_;
  std::string function_;
  bool rna_seen_ = false;
};

inline bool is_fasta_space(unsigned char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

/// Random access to a FASTA file. Not thread-safe: each thread needs a separate object.
class IndexedFasta {
 public:
  /// Opens a FASTA file or a URL; FILE##idx##INDEX names its index. A missing .fai or .gzi is built under a
  /// temporary name and renamed, so that many tasks may start at the same time; where it cannot be written,
  /// in memory, with a warning. Of sequences with one name only the first can be read, which a warning says.
  /// Throws Error, which names the file, for an index that lacks sequences, and with the line that keeps it
  /// from being indexed.
  explicit IndexedFasta(const std::string& path, Log& log = silent_log());
  ~IndexedFasta();
  IndexedFasta(IndexedFasta&&) noexcept;

  const std::string& path() const;
  /// What the FASTA was opened with, for those who read it.
  Log& log() const;
  /// Contig names in file order.
  const std::vector<std::string>& names() const;
  /// Length in bases, or -1 if the contig is not in the FASTA.
  int64_t length(const std::string& contig) const;
  /// Bases [begin, end) of a contig. Throws Error, which names contig and range, unless the contig exists and
  /// 0 <= begin <= end <= length, if the bases cannot be read, and for a protein. Warns once if there is a U.
  std::string fetch(const std::string& contig, int64_t begin, int64_t end) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

struct FastaRecord {
  std::string name;  // up to the first white space
  std::string sequence;
};

/// Reads the records of a FASTA file in order. The file is plain, gzip or BGZF, or "-" for stdin. White space
/// in sequence lines is dropped.
/// U is read as T, with one warning.
///
/// Throws Error, which names file and line, for an empty file, FASTQ, bytes before the first '>', a record
/// without a name, a protein, and damaged input: a cut block, a CRC error or a missing BGZF end-of-file
/// marker.
class FastaReader {
 public:
  explicit FastaReader(const std::string& path, Log& log = silent_log());
  ~FastaReader();
  FastaReader(FastaReader&&) noexcept;
  bool next(FastaRecord& record);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// What of a FASTA file an index cannot express: sequences without a name or with the name of another, lines
/// of different lengths, and lines that are too long.
struct FastaLayout {
  /// With `FILE:LINE`, why no index can be right; "" if nothing is in the way.
  std::string fault;
  /// The first line after a shorter line of its sequence, which htslib refuses; "" if there is none.
  std::string uneven;
  /// How many sequences have the name of an earlier one, and the first such name.
  uint64_t repeated = 0;
  std::string repeated_name;
  /// Each name once, in the order of the file.
  std::vector<std::string> names;
};

/// Reads the whole file, up to the first fault. Throws Error if it cannot be read.
FastaLayout read_fasta_layout(const std::string& path);

}  // namespace carbon
