// VCF/BCF in and out through htslib.
//
// Records pass through as htslib reads them; carbon only adds INFO tags. Both htslib 1.16 and later: a cut
// BGZF block that 1.16 reports as end-of-file is found when the reader is closed.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "src/genome/vcf_regions.hpp"

namespace carbon {

class VcfReader;
class VcfWriter;

/// The version of the htslib in use, e.g. "1.16".
std::string htslib_version();
/// How much htslib says itself. Its errors are reported in carbon's own words, once, so it is silent below
/// level 4.
void set_htslib_verbosity(int level);

/// One record; owns a bcf1_t. Movable.
class VcfRecord {
 public:
  VcfRecord();
  ~VcfRecord();
  VcfRecord(VcfRecord&&) noexcept;
  VcfRecord& operator=(VcfRecord&&) noexcept;

  int64_t pos() const;                // 0-based; -1 for POS 0
  std::string id() const;             // as in the file, `.` when missing
  const std::string& contig() const;  // valid after VcfReader::next
  const std::string& ref() const;
  const std::vector<std::string>& alts() const;  // empty for a monomorphic record

 private:
  friend class VcfReader;
  friend class VcfWriter;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

enum class InfoType { none, flag, integer, real, text };
/// What an INFO tag has a value for each of, by the header's Number; `other`: a number of its own.
enum class InfoNumber { other, alt, allele, genotype };

/// Values of one INFO tag of one record; `none` where the record lacks the tag.
struct InfoValues {
  InfoType type = InfoType::none;
  InfoNumber number = InfoNumber::other;
  std::vector<double> numbers;     // of integers and reals; NaN: missing
  std::vector<std::string> texts;  // of text; "." : missing
};

/// Which records to read, as bcftools' options of these names say. An empty text is an option not given.
struct VcfReaderOptions {
  std::string regions, regions_file;  // at most one; needs an indexed file, and reads nothing else of it
  std::string targets, targets_file;  // at most one; ^ before it selects all other records
  VcfOverlap regions_overlap = VcfOverlap::record;
  VcfOverlap targets_overlap = VcfOverlap::pos;
};

class VcfReader {
 public:
  /// Opens a file or "-" and reads the header. Throws Error for what is not VCF/BCF ("no header").
  explicit VcfReader(const std::string& path, const VcfReaderOptions& options = {});
  ~VcfReader();
  VcfReader(const VcfReader&) = delete;
  VcfReader& operator=(const VcfReader&) = delete;

  /// The next record; false at the end of a file that was read whole: a malformed record, a cut file, a CRC
  /// error, a missing BGZF EOF marker or a last line without newline throw Error naming the file and, where
  /// known, contig:pos. Not seen: uncompressed BCF cut between two records, and a compressed or piped file of
  /// a header alone whose last line lacks its newline. With regions: the parts that no region needs.
  bool next(VcfRecord& record);
  /// Contig names of the header, in order.
  std::vector<std::string> contigs() const;
  bool has_info(const std::string& tag) const;
  /// The header's type of an INFO tag, `none` without a definition.
  InfoType info_type(const std::string& tag) const;
  /// The tag's values in a record that this reader read. Throws Error (contig:pos) for damaged ones.
  InfoValues info(const VcfRecord& record, const std::string& tag) const;

 private:
  friend class VcfWriter;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// One output tag, e.g. {"CARBON_LLR", "A", "Float", "..."}.
struct InfoTag {
  std::string id, number, type, description;
};

enum class VcfIndexKind { none, csi, tbi };

struct VcfWriterOptions {
  std::string path = "-";
  char type = 0;              // u, b, v, z, t; 0: from the suffix of path, else v
  int level = -1;             // 0..9 with z or b
  std::vector<InfoTag> tags;  // definitions of an earlier run under these names are replaced
  std::vector<std::string>
      drop_infos;  // further tags whose definitions and values are removed (an earlier run's)
  std::vector<std::string> drop_header_lines;  // meta lines that begin so are removed, e.g. `##KEY=<ID=X,`
  std::vector<std::string> header_lines;       // appended after everything else, without newline
  /// Contigs (name, length) added when the header lacks them, so that BCF output never fails. For VCF output
  /// only to a header without any contig line.
  std::vector<std::pair<std::string, int64_t>> contigs;
  VcfIndexKind index = VcfIndexKind::none;  // written beside a finished file
  bool exclusive = false;  // no other process writes `path`: what a killed one left is replaced
};

/// Reads the argument of -O, `u|b|v|z|t` with a level 0-9 after b or z, into `type` and `level`. Throws
/// Error.
void parse_output_type(const std::string& text, VcfWriterOptions& options);
/// The type that `path` and `type` ask for: u, b, v, z, or t for a table, which VcfWriter does not write.
char output_type(const VcfWriterOptions& options);
/// Appends a Float as VcfWriter prints it.
void append_vcf_float(float value, std::string& text);

/// Reads the argument of --write-index, `csi` or `tbi`, into `index`, and checks that the output of these
/// options can have such an index. Throws Error.
void parse_write_index(const std::string& text, VcfWriterOptions& options);

/// next() of the reader and the writer's functions may run in two threads at once, on different records.
class VcfWriter {
 public:
  /// Make it before another thread calls reader.next(): it adds to the header that records are read with.
  VcfWriter(const VcfReader& reader, const VcfWriterOptions& options);
  ~VcfWriter();
  VcfWriter(const VcfWriter&) = delete;
  VcfWriter& operator=(const VcfWriter&) = delete;

  /// Sets a Number=A Float tag; NaN in `values` means missing. One value per ALT, `.` where it is missing.
  void set_floats(VcfRecord& record, const std::string& tag, const std::vector<float>& values);
  /// Sets a Number=A String tag; "" means missing (`.`).
  void set_strings(VcfRecord& record, const std::string& tag, const std::vector<std::string>& values);
  /// Writes the record; values of an earlier run under the tags are removed unless set again.
  void write(VcfRecord& record);
  /// Hands on what was written so far.
  void flush();
  /// Flushes, closes, checks, renames, writes the index. Without it no output file remains.
  void close();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace carbon
