// Reads the tables that have a line, or a few, for each base: those of score -O tsv, scan and +mutagenesis
// --matrix.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/files/text_input.hpp"
#include "src/formats/indexed_table.hpp"
#include "src/formats/vcf_regions.hpp"
#include "src/report/sources/input.hpp"

namespace carbon {

/// One base of a table.
struct TableBase {
  std::string_view sequence;  // its name, valid until the next base is read
  int64_t position = 0;       // from 1
  char letter = 'N';          // the base that is there
  /// The values of A, C, G and T. Of score and scan: ln of their probabilities; those of scan are scaled to
  /// add up to one, because the table has only their ratios. Of a matrix: how much the score changes. NaN: no
  /// value.
  std::array<double, 4> letters = {};
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
  /// Whether the lines of a position are sorted, so that a position does not come again.
  bool sorted() const { return kind_ != InputKind::base_scores; }
  /// The header's lines that begin with ##.
  const std::vector<std::string>& header() const { return header_; }

 private:
  static constexpr size_t kMostColumns = 9;
  using Columns = std::array<std::string_view, kMostColumns>;

  [[noreturn]] void fail(const std::string& what) const;
  bool read_line();
  Columns split(size_t columns) const;
  void read_header();
  void place(const Columns& columns, TableBase& base);
  void score_line(TableBase& base);
  void scan_lines(TableBase& base);
  void matrix_line(TableBase& base);
  char letter(std::string_view text) const;
  double number(std::string_view text) const;

  std::string path_;
  TextInput input_;
  std::optional<IndexedTable> jump_;
  InputKind kind_;
  bool indels_ = false;
  std::vector<std::string> header_;
  std::string line_, sequence_;
};

}  // namespace carbon
