// src/formats/: what stands in files of genomes: FASTA, VCF and BCF, regions (BED, GFF3 and GTF among
// them), gene models, tables with an index, bigWig, and matrices with the files beside them. Files come in
// or go out; sequences, records and values are what the rooms above see. This room and src/files are the
// only ones that include htslib.
//
// Here is reading and writing VCF and BCF through htslib, and tables of variants that tabix can index.
//
// Records are passed through as htslib reads them; carbon only adds INFO tags. Works with htslib 1.16 and
// later: a cut BGZF block that 1.16 reports as the end of the file is noticed when the reader is closed.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "src/base/log.hpp"
#include "src/files/output.hpp"
#include "src/formats/regions.hpp"

namespace carbon {

class VcfReader;
class VcfWriter;
class VcfTextWriter;
struct SharedHeader;

/// One record. Movable.
class VcfRecord {
 public:
  VcfRecord();
  ~VcfRecord();
  VcfRecord(VcfRecord&&) noexcept;
  VcfRecord& operator=(VcfRecord&&) noexcept;

  int64_t pos() const;                // 0-based; -1 for POS 0
  std::string id() const;             // as in the file; `.` if missing
  const std::string& contig() const;  // valid after VcfReader::next
  const std::string& ref() const;
  const std::vector<std::string>& alts() const;  // empty for a monomorphic record
  size_t bytes() const;                          // that it holds in memory, about

 private:
  friend class VcfReader;
  friend class VcfWriter;
  friend class VcfTextWriter;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

enum class InfoType { none, flag, integer, real, text };
/// For what an INFO tag has one value each, by the Number in the header: A, R or G; `other` for all others.
enum class InfoNumber { other, alt, allele, genotype };

/// The values of one INFO tag in one record. The type is `none` if the record lacks the tag.
struct InfoValues {
  InfoType type = InfoType::none;
  InfoNumber number = InfoNumber::other;
  std::vector<double> numbers;     // for integer and real; NaN for a missing value
  std::vector<std::string> texts;  // for text; "." for a missing value
};

/// The genotypes of one record (FORMAT GT and PS). A record without GT has ploidy 0.
struct Genotypes {
  size_t samples = 0, ploidy = 0;  // ploidy is the largest of all samples
  /// samples * ploidy numbers, sample by sample: 0 for REF, 1 for the first ALT, ...; -1 for a missing
  /// allele; -2 where the sample has fewer alleles. They are as in the file, so that a damaged record may
  /// have too large ones.
  std::vector<int32_t> alleles;
  /// Whether each of them is phased. The first allele of a genotype has a sign only with VCF 4.4 or newer and
  /// htslib 1.22 or newer; elsewhere it is phased if all others are.
  std::vector<uint8_t> phased;
  /// PS of each sample as text, "" for none or `.`; empty if no sample has one.
  std::vector<std::string> phase_sets;
};

/// Which records to read, by the rules of the bcftools options with these names. Empty texts select all
/// records.
struct VcfReaderOptions {
  std::string regions, regions_file;  // at most one of the two; only these parts of an indexed file are read
  std::string targets, targets_file;  // at most one of the two; with a leading ^ all other records
  VcfOverlap regions_overlap = VcfOverlap::record;
  VcfOverlap targets_overlap = VcfOverlap::pos;
};

class VcfReader {
 public:
  /// Opens a file, or stdin for "-", and reads the header. Throws Error for a file that is not VCF or BCF.
  explicit VcfReader(const std::string& path, const VcfReaderOptions& options = {}, Log& log = silent_log());
  ~VcfReader();
  VcfReader(const VcfReader&) = delete;
  VcfReader& operator=(const VcfReader&) = delete;

  /// Reads the next record. Returns false at the end, after checking that the file is complete. Throws Error,
  /// which names the file and, if known, contig:pos, for a malformed record, a cut file, a CRC error and
  /// a missing BGZF end-of-file marker. Warns of a last line that has all columns but no newline. It cannot
  /// notice uncompressed BCF that is cut between two records, nor a missing newline at the end of a
  /// compressed or piped file that has only a header. With regions it does not read, and so does not check,
  /// other parts of the file.
  bool next(VcfRecord& record);
  /// The contig names of the header, in order.
  std::vector<std::string> contigs() const;
  /// The lengths of those contigs for which the header has one, in bases.
  std::unordered_map<std::string, int64_t> contig_lengths() const;
  /// The number of records by the index of the file, if it has one and all records are read.
  std::optional<uint64_t> indexed_records() const;
  /// The header's lines `##KEY=...` in order, without newlines.
  std::vector<std::string> header_lines(const std::string& key) const;
  /// The names of the INFO tags that the header defines.
  std::vector<std::string> info_tags() const;
  /// The type of an INFO tag by the header; `none` if the header does not define the tag.
  InfoType info_type(const std::string& tag) const;
  /// The values of a tag in a record that was read by this reader. Throws Error (contig:pos) for damaged
  /// values.
  InfoValues info(const VcfRecord& record, const std::string& tag) const;
  /// The FILTER column of a record that was read by this reader, as in the file: names between semicolons, or
  /// `.`.
  std::string filter(const VcfRecord& record) const;
  /// The names of the samples in the header, in order.
  std::vector<std::string> samples() const;
  /// The genotypes of a record that was read by this reader. Throws Error (contig:pos) if GT is damaged or
  /// not of type String in the header.
  void genotypes(const VcfRecord& record, Genotypes& out) const;

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
  char type = 0;                // u, b, v, z or t; 0 for the type that the suffix of path means, or v
  int level = -1;               // 0..9 with z or b, and of a table
  int compression_threads = 0;  // see BgzfOptions
  std::vector<InfoTag> tags;    // replace definitions of these names in the input
  /// set_line() will be called, and reads values of the tags by their new definitions.
  bool takes_lines = false;
  /// More tags whose definitions and values are removed, because they are those of an earlier run.
  std::vector<std::string> drop_infos;
  std::vector<std::string>
      drop_header_lines;                  // meta lines with these beginnings are removed, e.g. `##KEY=<ID=X,`
  std::vector<std::string> header_lines;  // added at the end of the header, each without a newline
  /// Contigs (name, length) to add if the header lacks them, because BCF needs them. VCF output gets them
  /// only if the header has no contig line at all.
  std::vector<std::pair<std::string, int64_t>> contigs;
  VcfIndexKind index = VcfIndexKind::none;  // written beside a finished file
  bool indexed_table = false;               // a table can have an index (TableOutput)
  int64_t records_per_block =
      1024;  // blocks of compressed output end here; 0: only where end_block() is called
  TemporaryName temporary = TemporaryName::unique;
  bool continued = false;  // the file has its header, and records are added to it
  Log* log = &silent_log();
};

/// Reads an output type, one of `u|b|v|z|t` with an optional level 0-9 after b or z, into `type` and `level`.
/// Throws Error for any other text, which lists `known`, the types that the command has.
void parse_output_type(const std::string& text, VcfWriterOptions& options, const std::string& known);
/// The type that `path` and `type` select: u, b, v, z, or t for a table, which VcfWriter does not write.
char output_type(const VcfWriterOptions& options);
/// Appends the text of a Float as VcfWriter prints it.
void append_vcf_float(float value, std::string& text);

/// Reads an index type, `csi` or `tbi`, into `index`. Throws Error for any other text, and if the output that
/// the options describe cannot have such an index.
void parse_write_index(const std::string& text, VcfWriterOptions& options);

/// Throws Error if the output that the options describe, or its index, cannot hold a record that ends at
/// position `last`, counted from 1. `what` says what lies there, such as "contig chr1 has 3000000000 bases".
void check_last_position(const VcfWriterOptions& options, int64_t last, const std::string& what);

/// Whether a header line ##contig can have the name. If not, no record of a VCF can lie there.
bool fits_contig_line(std::string_view name);

/// Writes records of a VcfReader, or new ones. VcfReader::next() and functions of the writer may run in two
/// threads at the same time, on different records.
class VcfWriter final : public Output {
 public:
  /// Opens an output for records that do not come from a reader. Its header has only what the options name.
  explicit VcfWriter(const VcfWriterOptions& options);
  /// Opens the output and writes the header. Must be called before another thread calls reader.next(),
  /// because it adds to the header that records are read with.
  VcfWriter(const VcfReader& reader, const VcfWriterOptions& options);
  ~VcfWriter() override;
  VcfWriter(const VcfWriter&) = delete;
  VcfWriter& operator=(const VcfWriter&) = delete;

  /// Makes `record` an empty record of an SNV at a contig that the options name, counted from 0. `alts` has
  /// one letter per ALT.
  void set_snv(VcfRecord& record, size_t contig, int64_t pos, char ref, std::string_view alts);
  /// Makes `record` that of a line of VCF without its newline, with the columns of the header. Its values of
  /// the output's tags count as set. Throws Error, in which the text is called `shown` and the line `where`,
  /// for a malformed line.
  void set_line(VcfRecord& record, const std::string& line, const std::string& shown,
                const std::string& where);
  /// Sets a Float or Integer tag with one value per ALT (Number=A). NaN is a missing value, written as `.`.
  /// Throws Error for a value of an Integer tag that is not whole.
  void set_floats(VcfRecord& record, const std::string& tag, const std::vector<float>& values);
  /// Sets a String tag with one value per ALT (Number=A). "" is a missing value, written as `.`.
  void set_strings(VcfRecord& record, const std::string& tag, const std::vector<std::string>& values);
  /// Writes the record. Values that the input has for the tags are removed unless they were set again.
  void write(VcfRecord& record);
  void end_block() override;
  void flush() override;
  void flush_for_reader() override;
  /// Writes its index, too.
  void close() override;

 private:
  friend class VcfTextWriter;
  /// For records that are parsed with this header.
  VcfWriter(std::shared_ptr<SharedHeader> header, const VcfWriterOptions& options);

  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// A table with one line per variant that tabix can index: CHROM and POS are its first two columns, and lines
/// without a variant begin with '#'.
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

/// Writes a VCF that arrives as text, in any format that VcfWriter writes.
///
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
