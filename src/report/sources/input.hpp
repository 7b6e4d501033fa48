// src/report/sources/: what a report reads: a file comes in, whose kind its first bytes say and never its
// name alone, and the data of its section go out. Knows no picture.
//
// Here is what all are read through, whatever their kind: tables with tabs between their columns, line by
// line (variants, bases, embeddings and their names, groups, summaries), and what a header says of how its
// file was made.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/files/text_input.hpp"
#include "src/formats/carbon_scores.hpp"
#include "src/formats/indexed_table.hpp"

namespace carbon {

enum class InputKind {
  variants,         // VCF or BCF
  variant_table,    // the table of vep -O t
  mutagenesis,      // --matrix of +mutagenesis
  base_scores,      // score -O tsv
  scan,             // the table of scan
  concordance,      // the JSON of +concord
  embedding_table,  // embed -O tsv
  embedding_array,  // embed -O npy or safetensors, with its .names.tsv
  score_summary,    // the table of score, a line a sequence
  gene_summary,     // the table of +gene-summary
  separation,       // the JSON of +auroc
  histogram,        // --histogram of vep and of scan
  genes,            // GFF3 of annotate
  coding            // annotate -O tsv
};

/// Throws Error, which says what a report can draw, for any other file.
InputKind input_kind(const std::string& path);
/// The kind of a table by its line of columns; `path` is for messages.
InputKind table_kind(const std::string& path, std::string_view columns);

/// The name of a file without its folders, as titles and captions show it; "standard input" for "-".
std::string file_name(const std::string& path);

/// The largest value of a table that is drawn: sums of them are finite, and so are they as floats.
inline constexpr double kMostValue = 1e30;
/// No sequence is as long, and sums of positions stay far from overflow.
inline constexpr int64_t kLastPosition = int64_t{1} << 40;
/// More lines of carbon than any header has.
inline constexpr size_t kHeaderLines = 10000;

class TableReader {
 public:
  /// Opens a file. `function` names the caller in messages. In a table that people write `by_hand` the last
  /// line may lack its newline; elsewhere the file is cut.
  TableReader(const std::string& path, const char* function, bool by_hand = false);

  /// Reads the lines that begin with ##, and the line of columns after them, which is empty if the file ends
  /// before it. Keeps those of carbon.
  void read_header();
  const std::vector<std::string>& header() const { return header_; }
  /// If the table has an index, only its lines in these regions, which are merged, come from here on.
  void jump_to(const VcfRegions& regions);

  /// Reads and splits the next line. Returns false at the end, after checking that the file is complete.
  bool next();
  const std::string& line() const { return line_; }
  size_t size() const { return columns_.size(); }
  std::string_view operator[](size_t column) const { return columns_[column]; }

  // What a line has in its columns; these throw Error for another text.

  void expect_columns(size_t count) const;
  /// A position from 1.
  int64_t position(size_t column) const;
  /// A number, or NaN for a point. A logarithm may be that of zero.
  double number(size_t column, bool logarithm = false) const;

  /// `path:line`, or the path alone for lines that an index has found.
  std::string where() const { return jump_ ? path_ : input_.where(); }
  /// Throws Error that names the line.
  [[noreturn]] void fail(const std::string& what) const;
  /// The same, with the text of a column before `what`.
  [[noreturn]] void refuse(size_t column, const std::string& what) const;

 private:
  std::string path_;
  const char* function_;
  bool by_hand_;
  TextInput input_;
  std::optional<IndexedTable> jump_;
  std::vector<std::string> header_;
  std::string line_;
  std::vector<std::string_view> columns_;  // of the line at hand
};

/// Pairs of what it is and its value, of a file of any kind. `lines` are header lines that begin with
/// ##carbon_; others are left out.
std::vector<std::pair<std::string, std::string>> variant_provenance(const std::string& path,
                                                                    const std::vector<std::string>& lines);

/// A sentence for the head of a page for each line of a model: the model, and of the other fields those that
/// matter most. With the model that is part of carbon, another one that its scores are not to be used.
std::vector<std::string> model_sentences(const std::vector<std::string>& lines);

}  // namespace carbon
