// Indexed FASTA (plain or BGZF) through htslib's faidx, and sequential FASTA reading.
//
// Coordinates are 0-based half-open. Sequence is returned as in the file (case kept).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace carbon {

/// Random access. Not thread-safe: one per thread.
class IndexedFasta {
 public:
  /// A missing .fai/.gzi is built under a temporary name and renamed (many tasks may start at once); beside a
  /// read-only FASTA it is built in $TMPDIR with a warning. Throws Error naming the file.
  explicit IndexedFasta(const std::string& path);
  ~IndexedFasta();
  IndexedFasta(IndexedFasta&&) noexcept;

  const std::string& path() const;
  /// Contig names in file order.
  const std::vector<std::string>& names() const;
  /// Length in bases, or -1 if the contig is not in the FASTA.
  int64_t length(const std::string& contig) const;
  /// Bases [begin, end) of a contig that exists, 0 <= begin <= end <= length. Throws Error (contig:range)
  /// when the bytes cannot be read or fewer come back than asked.
  std::string fetch(const std::string& contig, int64_t begin, int64_t end) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

struct FastaRecord {
  std::string name;  // up to the first white space
  std::string sequence;
};

/// Streams records of a FASTA file, plain or gzip/BGZF, or "-" for stdin. Damaged input (cut mid-block, CRC
/// error, missing BGZF EOF marker, bytes before the first '>', a record without a name) throws Error with
/// file:line. White space inside sequence lines is dropped; '>' starts a record; an empty file is an Error;
/// FASTQ is refused.
class FastaReader {
 public:
  explicit FastaReader(const std::string& path);
  ~FastaReader();
  FastaReader(FastaReader&&) noexcept;
  bool next(FastaRecord& record);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace carbon
