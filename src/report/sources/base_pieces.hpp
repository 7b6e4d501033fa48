// The runs of consecutive bases of a table, as far as a report draws them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "src/report/drawing/track.hpp"
#include "src/report/sources/bases.hpp"
#include "src/report/sources/options.hpp"

namespace carbon {

/// Consecutive bases of one sequence. Gaps of up to 10 bases are in it, as letters N without values.
struct TablePiece {
  std::string sequence;  // its name
  int64_t first = 1;     // the position of the first base
  std::string letters;
  std::vector<LetterLogs> values;  // as in TableBase
  std::vector<double> deletions;   // of a matrix of indels

  size_t length() const { return letters.size(); }
  int64_t last() const { return first + static_cast<int64_t>(length()) - 1; }
  /// "chr1:1,001-2,000".
  std::string place() const;
};

struct TablePieces {
  InputKind kind = InputKind::scan;
  bool indels = false;
  std::vector<std::string> header;  // lines that begin with ##
  std::vector<TablePiece> pieces;
  std::vector<std::string> notes;  // paragraphs that say what is left out
};

/// Reads the pieces of a table that lie in the regions of the options, or all: the first 20 of them, with
/// 200,000 bases together. Memory is that of these bases, however large the table is. Throws Error for a
/// malformed table or region; regions without bases are warnings and notes.
TablePieces read_pieces(const std::string& path, const ReportOptions& options);

}  // namespace carbon
