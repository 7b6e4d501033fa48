// How often each value of an SNV occurs: the background in which `carbon +rank` places a value.
//
// Values are counted in bins of a hundredth, apart for each trinucleotide and alternative, because how likely
// a base changes depends on its neighbours.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>

#include "src/formats/fasta.hpp"
#include "src/scan/alternatives.hpp"

namespace carbon {

class ScanHistogram {
 public:
  /// Opens the FASTA once more, for the neighbours of the bases. Throws Error.
  ScanHistogram(const std::string& fasta, Log& log) : fasta_(fasta, log) {}

  /// Counts the three SNVs of a base.
  void add(const ScannedBase& base);

  /// Lines of TRI, ALT, BIN and COUNT, sorted. TRI is the trinucleotide around the base; it is "." where a
  /// neighbour is absent or not A, C, G or T.
  std::string text() const;
  /// Adds the counts of text(). Throws Error for any other text.
  void add_text(const std::string& text);

 private:
  // "." and 64 trinucleotides, each with four alternatives, in alphabetical order.
  static constexpr size_t kClasses = (1 + 64) * 4;

  size_t trinucleotide(const ScannedBase& base);

  IndexedFasta fasta_;
  std::array<std::unordered_map<int64_t, uint64_t>, kClasses> counts_;  // by bin
  // A slice of the contig whose number is `contig_`, in upper case.
  std::string slice_;
  size_t contig_ = 0;
  int64_t slice_begin_ = 0;
};

}  // namespace carbon
