// The reference around variants. Records mostly come in order, so that the next ones lie in what was read for
// the last one.
#pragma once

#include <string>
#include <utility>

#include "src/formats/fasta.hpp"
#include "src/vep/variant.hpp"

namespace carbon {

class ReferenceReader {
 public:
  explicit ReferenceReader(const IndexedFasta& fasta) : fasta_(&fasta) {}
  /// Has a whole contig, in upper case, in memory, and no other.
  ReferenceReader(std::string contig, std::string bases)
      : contig_(std::move(contig)), bases_(std::move(bases)) {}

  /// Length in bases, or -1 if there is no such contig.
  int64_t length(const std::string& contig) const;
  /// Bases [begin, end) of a contig of `length` bases, clipped to it, in upper case. Throws Error.
  ReferenceSlice slice(const std::string& contig, int64_t length, int64_t begin, int64_t end);
  /// One base, in upper case; cheap for positions that follow one another in either direction. The position
  /// must exist.
  char base(const std::string& contig, int64_t length, int64_t position);

 private:
  bool holds(const std::string& contig, int64_t begin, int64_t end) const;
  void read(const std::string& contig, int64_t begin, int64_t end);

  const IndexedFasta* fasta_ = nullptr;
  std::string contig_, bases_;
  int64_t begin_ = 0;
};

/// A contig of the FASTA and what is known of its bases.
struct ContigReference {
  ReferenceReader& reader;
  const std::string& contig;  // its name in the FASTA
  int64_t length;             // -1: not in the FASTA

  ReferenceSlice slice(const BaseRange& range) const {
    return reader.slice(contig, length, range.begin, range.end);
  }
  char base(int64_t position) const { return reader.base(contig, length, position); }
};

}  // namespace carbon
