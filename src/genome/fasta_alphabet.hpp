// Which bytes may occur in a sequence line of a FASTA file, and what is made of RNA and of proteins. A model
// can score only some letters.
#pragma once

#include <string>
#include <utility>

#include "src/base/log.hpp"

namespace carbon {

/// All letters, and the signs for gaps and stops that alignments and proteins leave in sequences.
inline bool is_sequence_byte(unsigned char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '*' || c == '-';
}

/// Reads the sequences of a file as DNA.
class FastaDna {
 public:
  /// `function` is the caller in messages.
  FastaDna(Log& log, std::string function) : log_(log), function_(std::move(function)) {}
  /// Turns RNA into DNA: U becomes T, in either case, with a warning the first time. `where` is the place in
  /// messages. Throws Error if so many letters stand for amino acids and for no base that this is a protein.
  void read(std::string& sequence, const std::string& where);

 private:
  Log& log_;
  std::string function_;
  bool rna_seen_ = false;
};

inline bool is_fasta_space(unsigned char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

}  // namespace carbon
