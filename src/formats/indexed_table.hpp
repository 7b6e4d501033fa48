// Reads the lines of parts of a table that is compressed as BGZF and has a tabix index (.tbi or .csi).
#pragma once

#include <memory>
#include <string>

#include "src/formats/vcf_regions.hpp"

namespace carbon {

class IndexedTable {
 public:
  /// Whether `path` has an index.
  static bool has_index(const std::string& path);

  /// Opens a table for the lines in `regions`, which are merged. Throws Error, with `function` as the caller,
  /// if the table or its index cannot be read, and if the file is cut.
  IndexedTable(const std::string& path, const std::string& function, VcfRegions regions);
  ~IndexedTable();
  IndexedTable(const IndexedTable&) = delete;
  IndexedTable& operator=(const IndexedTable&) = delete;

  /// Reads the next line, without its newline; region by region. Returns false at the end.
  bool line(std::string& text);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace carbon
