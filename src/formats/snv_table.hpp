// Values of SNVs, looked up in an indexed file: a table with a line for each SNV, or a VCF or BCF, as
// `carbon scan` writes them.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace carbon {

/// The values of the SNVs at one position.
struct SnvValues {
  int64_t pos = -1;               // 0-based
  char ref = 0;                   // upper case
  std::array<float, 4> values{};  // by the letter of ALT, A C G T; NaN: none
};

class SnvTable {
 public:
  /// Opens the file for values of the column, or INFO tag of Type Float, `tag`. Throws Error if it cannot be
  /// read, has no index, or does not have that tag.
  SnvTable(const std::string& path, const std::string& tag);
  ~SnvTable();
  SnvTable(SnvTable&&) noexcept;
  SnvTable& operator=(SnvTable&&) noexcept;

  const std::string& path() const;
  /// The header's lines that begin with ##, in order, without newlines.
  const std::vector<std::string>& header_lines() const;
  bool has_contig(const std::string& contig) const;
  std::vector<std::string> contigs() const;
  /// What the file has at a position of a contig that it has; null for nothing, until the next call.
  /// Positions may come in any order; where they ascend, the file is read once. Throws Error for damaged
  /// data, naming file and place.
  const SnvValues* at(const std::string& contig, int64_t pos);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace carbon
