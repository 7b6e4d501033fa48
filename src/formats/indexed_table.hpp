// Reads the lines of parts of a table that is compressed as BGZF and has a tabix index (.tbi or .csi):
// regions, one after the other, or from places that the caller chooses as it goes.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "src/formats/regions.hpp"

namespace carbon {

class IndexedTable {
 public:
  /// Whether `path` has an index.
  static bool has_index(const std::string& path);

  /// Opens a table for the lines in `regions`, which are merged. Throws Error, with `function` as the caller,
  /// if the table or its index cannot be read, and if the file is cut.
  IndexedTable(const std::string& path, const std::string& function, VcfRegions regions);
  /// The same without regions: seek() says from where lines are read.
  IndexedTable(const std::string& path, const std::string& function);
  ~IndexedTable();
  IndexedTable(const IndexedTable&) = delete;
  IndexedTable& operator=(const IndexedTable&) = delete;

  /// Whether the index has the contig.
  bool has(const std::string& contig) const;
  std::vector<std::string> contigs() const;
  /// Makes line() read those of `contig` that reach `begin`, 0-based, and all after them on that contig.
  /// Throws Error if the index does not have the contig.
  void seek(const std::string& contig, int64_t begin);
  /// Reads the next line, without its newline; region by region. Returns false at the end.
  bool line(std::string& text);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace carbon
