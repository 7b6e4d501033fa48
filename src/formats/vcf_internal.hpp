// What the VCF reader and the writers of VCF and tables share: jumping to regions by an index, the state of
// the reader, building an index, and what options of an output go together. Only their source files include
// it.
#pragma once

#include <htslib/hts.h>
#include <htslib/tbx.h>
#include <htslib/vcf.h>

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "src/files/output.hpp"
#include "src/files/text_input.hpp"
#include "src/formats/regions.hpp"
#include "src/formats/vcf.hpp"
#include "src/formats/vcf_header.hpp"
#include "src/formats/vcf_lines.hpp"

namespace carbon {

/// Warns of contigs of regions or targets, as `what` says, that a file does not have, once for all of them.
/// `known` are those that it has.
void warn_of_unknown_contigs(const std::vector<std::string>& contigs, const std::string& what,
                             const std::string& shown, const std::vector<std::string>& known, Log& log);

/// Reads the records of regions, one region after the other, from an open file.
class VcfJump {
 public:
  /// `file` and `header` still belong to the caller. Throws Error if the file has no usable index or is cut.
  VcfJump(htsFile* file, bcf_hdr_t* header, const std::string& path, VcfRegions regions, Log& log);

  /// Reads the next record that the index finds, into `line` for VCF or `record` for BCF. Returns 0, -1 at
  /// the end, or -2 for damaged data.
  int next(kstring_t& line, bcf1_t* record);
  /// Whether a record with this extent overlaps the current region, and not the region before it, which has
  /// returned it already.
  bool accepts(const VcfInterval& extent) const;

 private:
  struct Delete {
    void operator()(tbx_t* index) const { tbx_destroy(index); }
    void operator()(hts_idx_t* index) const { hts_idx_destroy(index); }
    void operator()(hts_itr_t* iterator) const { hts_itr_destroy(iterator); }
  };

  void load_index(const std::string& path);
  int contig_number(const std::string& name) const;
  bool may_have_records(int contig) const;
  bool open_next_region();

  htsFile* file_;
  bcf_hdr_t* header_;
  bool is_bcf_;
  BcfDictionaries dictionaries_;  // of the header, if the file is BCF
  VcfRegions regions_;
  std::unique_ptr<tbx_t, Delete> text_index_;
  std::unique_ptr<hts_idx_t, Delete> bcf_index_;
  std::unique_ptr<hts_itr_t, Delete> iterator_;
  size_t contig_ = 0, interval_ = 0;  // of the region to open next
  VcfInterval current_;
  int64_t previous_end_ = -1;  // end of the previous region on the same contig
};

/// What is indexed: VCF or BCF, or a table whose first two columns are CHROM and POS.
enum class IndexedFormat { vcf, table };

/// The last position that the .csi index of a VCF (type z) or BCF with this header can hold: htslib makes as
/// many levels of bins as the longest contig of the header needs, and for VCF at least six.
int64_t end_of_csi(const bcf_hdr_t* header, char type);

/// The index file of an output. It is built from the finished output, but its temporary file is created
/// before the work begins, so that an index that cannot be written is an Error at that time.
class VcfIndexOutput {
 public:
  /// Takes path, index, partial, log and contigs of the options; the index of a kept output is built anew in
  /// every run. Throws Error if no regular file can be written at the path with .csi or .tbi.
  explicit VcfIndexOutput(const VcfWriterOptions& options, IndexedFormat format = IndexedFormat::vcf);
  /// Builds the index under a temporary name and renames it.
  void build();

 private:
  std::string path_;
  VcfIndexKind kind_;
  IndexedFormat format_;
  int csi_shift_;  // smallest bins of a .csi index, as a power of 2
  Log& log_;
  OutputPath target_;
};

// How far along a contig records may lie. BCF and indexes have limits, which are checked before anything is
// computed.

/// The last position, counted from 1, that fits in a record of BCF, whose positions are 32-bit integers.
constexpr int64_t kLastBcfPosition = (int64_t{1} << 31) - 1;
/// The last position that a .tbi index holds.
constexpr int64_t kLastTbiPosition = int64_t{1} << 29;
/// The last position that the .csi index of a table holds, with the largest bins that leave it useful.
constexpr int64_t kLastTablePosition = int64_t{1} << 33;

/// The smallest bins, as a power of 2, with which the .csi index of a table holds the contigs of the options.
int table_index_shift(const VcfWriterOptions& options);

struct VcfReader::Impl {
  Impl(const std::string& path, const VcfReaderOptions& options, Log& log);
  ~Impl();
  void read_header(bool jumps);
  bool next(VcfRecord::Impl& out);
  bool read(VcfRecord::Impl& out);
  bool selected(const VcfRecord::Impl& record) const;
  void read_blank_end();
  bool read_text(bcf1_t* record);
  bool read_bcf(bcf1_t* record);
  bool read_jump(bcf1_t* record);
  void finish();
  void warn_of_missing_newline(const std::string& what) const;
  [[noreturn]] void fail_unknown() const;
  VcfRegions read_regions(const std::string& list, const std::string& regions_file, const std::string& what);
  void read_targets(const VcfReaderOptions& options);
  void warn_of_unknown_targets() const;
  [[noreturn]] void fail(const std::string& what) const;

  std::string path, shown;
  Log& log;
  VcfOverlap regions_overlap, targets_overlap;
  std::shared_ptr<SharedHeader> shared = std::make_shared<SharedHeader>();
  htsFile* file = nullptr;
  bool is_bcf = false, done = false;
  bool header_ended = true;         // the last line of a text's header has a newline
  std::unique_ptr<TextInput> text;  // the lines of VCF that is read from beginning to end, or null
  std::optional<BcfDictionaries> dictionaries;  // of BCF
  std::unique_ptr<VcfJump> jump;                // reads only regions; null if the whole file is read
  std::optional<VcfRegions> targets;
  bool targets_excluded = false;
  std::set<std::string> respelled;  // contigs of regions and targets of which the header has another spelling
  std::string line, where;          // of the record that was read last; `line` only of VCF
  VcfLineParser parser;
  VcfChanges changes;
  HtsText jumped;  // a line that `jump` has read
  int64_t records = 0;
};

/// Throws Error if the header gives a contig a length that no index can hold, and with which htslib 1.16
/// would count for ever.
void check_lengths(const bcf_hdr_t* header);
/// Adds everything that will be written to the header with which records are read. The numbers that the input
/// gives to names do not change.
void extend_input_header(bcf_hdr_t* header, const VcfWriterOptions& options, bool binary);
/// The header to write: that of the input without the lines of an earlier run, and with the new definitions.
VcfHeaderPtr make_output_header(const bcf_hdr_t* input, const VcfWriterOptions& options);
/// Throws Error for a type or a level of compression that there is not, or that do not go together.
void check_output_type(char type, int level);
/// Throws Error if an index is wanted for an output that cannot have it.
void check_output_index(const VcfWriterOptions& options);

}  // namespace carbon
