// Writes a VCF that arrives as text, in any format that VcfWriter writes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "src/formats/vcf.hpp"

namespace carbon {

/// Each record is checked and written when its line is complete. All functions throw Error for text that is
/// no VCF, and if writing fails.
class VcfTextWriter {
 public:
  /// `shown` is what messages call the text. The output is opened when its header is complete.
  VcfTextWriter(std::string shown, VcfWriterOptions options);
  ~VcfTextWriter();
  VcfTextWriter(const VcfTextWriter&) = delete;
  VcfTextWriter& operator=(const VcfTextWriter&) = delete;

  /// Takes the next bytes of the text.
  void write(std::string_view text);
  /// Passes what was written so far on to a pipe or a terminal, if it is not compressed. The header is passed
  /// on as soon as it is complete.
  void flush_for_reader();
  /// Closes the output, which then appears under its name. The last line may lack its newline.
  void close();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace carbon
