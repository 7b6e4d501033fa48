// Indexed FASTA (plain or BGZF) through htslib's faidx, and sequential FASTA reading.
//
// Coordinates are 0-based half-open. Sequence is returned as in the file (case kept), with T for U.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/log.hpp"

namespace carbon {

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

}  // namespace carbon
