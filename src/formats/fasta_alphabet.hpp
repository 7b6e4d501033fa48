// Which bytes may occur in a sequence, and what is made of RNA and of proteins, for files and for all that
// clients and plugins send. A model can score only some letters.
#pragma once

#include <string>
#include <utility>

#include "src/base/log.hpp"

namespace carbon {

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

}  // namespace carbon
