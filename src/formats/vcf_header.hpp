// Reads the headers of VCF and BCF files and checks what htslib would believe: it makes tables as large as
// the numbers in a header say, and compares many lines with each other. Internal to the reader.
#pragma once

#include <htslib/bgzf.h>
#include <htslib/vcf.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace carbon {

struct VcfHeaderDelete {
  void operator()(bcf_hdr_t* header) const { bcf_hdr_destroy(header); }
};
using VcfHeaderPtr = std::unique_ptr<bcf_hdr_t, VcfHeaderDelete>;

/// The lines of a header, checked one by one. All functions throw Error, in which the file is called `shown`.
class VcfHeaderLines {
 public:
  explicit VcfHeaderLines(std::string shown) : shown_(std::move(shown)) {}
  /// Takes the next line, without its newline. Every line begins with #; empty ones are skipped. True for the
  /// line #CHROM, which is the last one.
  bool add(std::string_view line);
  VcfHeaderPtr parse();
  /// The lines so far, each with a newline.
  const std::string& text() const { return text_; }

 private:
  std::string shown_, text_;
  uint64_t lines_ = 0, plain_lines_ = 0, plain_groups_ = 0, largest_ = 0, largest_line_ = 0;
  bool after_plain_ = false;
};

/// The header that bcf_hdr_parse() makes of a text, in a time that does not grow with the square of the lines
/// ##KEY=VALUE that follow each other. Null if htslib refuses it.
VcfHeaderPtr parse_vcf_header(const std::string& text);

/// A header as htslib has it, and the text that it was made from: htslib leaves lines out (since version 1.17
/// also the second of two lines with one key and ID) and brings others into its own form.
struct VcfHeaderText {
  VcfHeaderPtr header;
  std::string text;   // lines with newlines
  int64_t lines = 0;  // of the file
  bool ended = true;  // the last of them has a newline
};

/// The header of VCF text, up to the line #CHROM; nothing has been read from `file` before. Takes no byte
/// after it from the file, so that a pipe need not hold more yet. Throws Error, in which the file is called
/// `shown`, if there is no such line, if the header is malformed or cut, or if it is larger than any header
/// is.
VcfHeaderText read_text_header(htsFile* file, const std::string& shown);
/// The same for BCF, from the beginning of the stream.
VcfHeaderText read_binary_header(BGZF* stream, const std::string& shown);

/// A header line without the number that BCF gives to its name: ",IDX=7" before the last ">".
std::string without_number(std::string_view line);

/// The names of the contigs.
std::vector<std::string> contigs_of_header(const bcf_hdr_t* header);

/// Adds the contigs that the index of a VCF text has and the header lacks, as bcftools does. The index must
/// have been checked (check_indices()).
void add_contigs_of_index(const std::string& path, bcf_hdr_t* header);

}  // namespace carbon
