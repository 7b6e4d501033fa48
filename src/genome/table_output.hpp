// A table with one line per variant that tabix can index: CHROM and POS are its first two columns, and lines
// without a variant begin with '#'.
#pragma once

#include <memory>
#include <string_view>

#include "src/genome/vcf.hpp"

namespace carbon {

class TableOutput {
 public:
  /// Uses path, index, partial, log, contigs and how to compress of the options. The table is BGZF if the
  /// path ends in .gz or .bgz. Throws Error if the output cannot be written or cannot have the index.
  explicit TableOutput(const VcfWriterOptions& options);
  ~TableOutput();
  TableOutput(const TableOutput&) = delete;
  TableOutput& operator=(const TableOutput&) = delete;

  void write(std::string_view text);
  /// Ends a block of BGZF output, if one is begun.
  void end_block();
  /// Passes everything written so far to the file, which also ends a block.
  void flush();
  /// Passes it on to a pipe or a terminal, as TextOutput::pass_on() does.
  void pass_on();
  /// Flushes, closes and renames the output, then writes its index. Without this call no output file is left.
  void close();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace carbon
