// A table with one line per variant that tabix can index: CHROM and POS are its first two columns, and lines
// without a variant begin with '#'.
#pragma once

#include <memory>
#include <string_view>

#include "src/formats/vcf.hpp"

namespace carbon {

class TableOutput final : public Output {
 public:
  /// Uses path, index, temporary, log, contigs and how to compress of the options. The table is BGZF if the
  /// path ends in .gz or .bgz. Throws Error if the output cannot be written or cannot have the index.
  explicit TableOutput(const VcfWriterOptions& options);
  ~TableOutput() override;
  TableOutput(const TableOutput&) = delete;
  TableOutput& operator=(const TableOutput&) = delete;

  void write(std::string_view text);
  void end_block() override;
  void flush() override;
  void flush_for_reader() override;
  /// Writes its index, too.
  void close() override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace carbon
