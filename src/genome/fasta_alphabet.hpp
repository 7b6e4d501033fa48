// Which bytes may occur in a sequence line of a FASTA file. A model can score only some of them.
#pragma once

namespace carbon {

/// All letters, and the signs for gaps and stops that alignments and proteins leave in sequences.
inline bool is_sequence_byte(unsigned char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '*' || c == '-';
}

inline bool is_fasta_space(unsigned char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

}  // namespace carbon
