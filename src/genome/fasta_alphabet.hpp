// Which bytes may stand in a FASTA sequence line. Says nothing of which of them a model can score.
#pragma once

namespace carbon {

/// Letters (IUPAC or not), and the gap and stop signs that alignments and proteins leave behind.
inline bool is_sequence_byte(unsigned char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '*' || c == '-';
}

inline bool is_fasta_space(unsigned char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

}  // namespace carbon
