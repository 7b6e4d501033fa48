// Tables that have a line, or a few, for each base: those of score -O tsv, scan, annotate -O tsv and
// +mutagenesis --matrix, as a stream of bases, and the runs of consecutive bases that a report draws.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "src/formats/regions.hpp"
#include "src/report/sources/input.hpp"
#include "src/report/sources/options.hpp"

namespace carbon {

/// The values of A, C, G and T.
using LetterLogs = std::array<double, 4>;

/// One base of a table.
struct TableBase {
  std::string_view sequence;  // its name, valid until the next base is read
  int64_t position = 0;       // from 1
  char letter = 'N';          // the base that is there
  /// Of score and scan: ln of the probabilities of the four letters; those of scan are scaled to add up to
  /// one, because the table has only their ratios. Of a matrix: how much the score changes. Of annotate: the
  /// probabilities to be coding on the forward and the reverse strand. NaN: no value.
  LetterLogs letters = {};
  double deletion = 0;  // the fifth value of a matrix of indels
};

class BaseTable {
 public:
  /// Opens a table and reads its header. With `regions`, which are merged, an indexed table is read only
  /// there; of another table, all lines come. Throws Error for a file of another kind.
  explicit BaseTable(const std::string& path, const VcfRegions* regions = nullptr);

  /// Reads the next base. Returns false at the end, after checking that the file is complete. Throws Error
  /// (path:line) for a line that is malformed.
  bool next(TableBase& base);

  InputKind kind() const { return kind_; }
  /// Whether a matrix is one of indels.
  bool indels() const { return indels_; }
  /// Whether the header says that a table of score has the means of both strands.
  bool both_strands() const { return strand_ == "both"; }
  /// The header's lines of carbon.
  const std::vector<std::string>& header() const { return table_.header(); }

 private:
  void place(TableBase& base);
  void score_line(TableBase& base);
  void scan_lines(TableBase& base);
  void matrix_line(TableBase& base);
  void coding_line(TableBase& base);
  char letter(size_t column) const;
  double probability(size_t column, double most = 1) const;

  TableReader table_;
  InputKind kind_;
  bool indels_ = false;
  std::string strand_;  // of a table of score, as its header says
  std::string sequence_;
};

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
  bool indels = false, both_strands = false;
  std::vector<std::string> header;  // the lines of carbon
  std::vector<TablePiece> pieces;
  std::vector<std::string> notes;  // paragraphs that say what is left out
};

/// Reads the pieces of a table that lie in the regions of the options, or all: the first 20 of them, with
/// 200,000 bases together. Memory is that of these bases, however large the table is. Throws Error for a
/// malformed table or region; regions without bases are notes, and a table without any is a warning, too.
TablePieces read_pieces(const std::string& path, const ReportOptions& options);

}  // namespace carbon
