// Reads a table with tabs between its columns, line by line: variants, bases, embeddings and their names,
// groups, GFF3.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/numbers.hpp"
#include "src/files/text_input.hpp"
#include "src/formats/indexed_table.hpp"

namespace carbon {

class TableReader {
 public:
  /// Opens a file. `function` names the caller in messages.
  TableReader(const std::string& path, const char* function);

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
  /// False if the last line had no newline, because the file ended.
  bool newline_seen() const { return jump_ || input_.newline_seen(); }

  /// A column that has a position from 1. Throws Error for another text.
  int64_t position(size_t column) const;

  /// `path:line`, or the path alone for lines that an index has found.
  std::string where() const { return jump_ ? path_ : input_.where(); }
  /// Throws Error that names the line.
  [[noreturn]] void fail(const std::string& what) const;

 private:
  std::string path_;
  const char* function_;
  TextInput input_;
  std::optional<IndexedTable> jump_;
  std::vector<std::string> header_;
  std::string line_;
  std::vector<std::string_view> columns_;  // of the line at hand
};

}  // namespace carbon
