// What the VCF reader and writer share. Only their source files include it.
#pragma once

#include <htslib/hts.h>
#include <htslib/vcf.h>

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "src/genome/text_input.hpp"
#include "src/genome/vcf.hpp"
#include "src/genome/vcf_index.hpp"

namespace carbon {

/// The header with which records are parsed and printed. It has the definitions of the input, and those that
/// htslib adds for undefined tags. The header of the output is a separate one that numbers the names equally.
///
/// Parsing a text record may extend the header while another thread prints a record, so both hold `mutex`.
/// Reading BCF does not change the header and takes no lock.
struct SharedHeader {
  ~SharedHeader() {
    if (header) bcf_hdr_destroy(header);
  }
  bcf_hdr_t* header = nullptr;
  std::mutex mutex;
};

struct VcfRecord::Impl {
  Impl();
  ~Impl() { bcf_destroy(record); }
  /// `contig:pos`, for messages.
  std::string where() const { return contig + ":" + std::to_string(record->pos + 1); }

  bcf1_t* record = nullptr;
  std::string contig, ref;
  std::vector<std::string> alts;
  std::vector<int> set_ids;  // INFO ids that the writer has set on this record
};

struct VcfReader::Impl {
  Impl(const std::string& path, const VcfReaderOptions& options, Log& log);
  ~Impl();
  void read_header(bool jumps);
  bool next(VcfRecord::Impl& out);
  bool read(VcfRecord::Impl& out);
  bool selected(const VcfRecord::Impl& record) const;
  bool read_text(bcf1_t* record);
  bool read_bcf(bcf1_t* record);
  bool read_jump(bcf1_t* record);
  void parse_line(const std::string& where, bcf1_t* record);
  void check_record(const bcf1_t* record, int status, const std::string& where) const;
  void finish();
  void check_samples() const;
  void warn_of_missing_newline(const std::string& what) const;
  [[noreturn]] void fail(const std::string& what) const;

  std::string path, shown;
  Log& log;
  VcfOverlap regions_overlap, targets_overlap;
  std::shared_ptr<SharedHeader> shared = std::make_shared<SharedHeader>();
  htsFile* file = nullptr;
  bool is_bcf = false, done = false;
  std::unique_ptr<TextInput> text;  // the lines of VCF that is read from beginning to end, or null
  std::unique_ptr<VcfJump> jump;    // reads only regions; null if the whole file is read
  std::optional<VcfRegions> targets;
  bool targets_excluded = false;
  std::string line;
  kstring_t scratch = {0, 0, nullptr};  // a copy of the line, because htslib changes it while it parses
  int64_t records = 0;
};

/// Throws Error for a type or a level of compression that there is not, or that do not go together.
void check_output_type(char type, int level);
/// Throws Error if an index is wanted for an output that cannot have it.
void check_output_index(const VcfWriterOptions& options);

}  // namespace carbon
