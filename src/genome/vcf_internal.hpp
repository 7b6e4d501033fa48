// What the VCF reader and writer share. Included by their two source files only.
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

/// The header that records are parsed and printed with. It keeps the input's own definitions, plus what
/// htslib adds when it meets an undefined tag: the header that is written out is another one with the same
/// numbering.
///
/// Parsing a text record may extend it while another thread prints one, so both hold `mutex`. A BCF input
/// never changes it, and reading one takes no lock.
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
  Impl(const std::string& path, const VcfReaderOptions& options);
  ~Impl();
  bool next(VcfRecord::Impl& out);
  bool read(VcfRecord::Impl& out);
  bool selected(const VcfRecord::Impl& record) const;
  bool read_text(bcf1_t* record);
  bool read_bcf(bcf1_t* record);
  bool read_jump(bcf1_t* record);
  void parse_line(const std::string& where, bcf1_t* record);
  void check_record(const bcf1_t* record, int status, const std::string& where) const;
  void finish();
  [[noreturn]] void fail(const std::string& what) const;

  std::string path, shown;
  VcfOverlap regions_overlap, targets_overlap;
  std::shared_ptr<SharedHeader> shared = std::make_shared<SharedHeader>();
  htsFile* file = nullptr;
  bool is_bcf = false, done = false;
  std::unique_ptr<TextInput> text;  // lines of a text input that is read whole
  std::unique_ptr<VcfJump> jump;    // null: read whole
  std::optional<VcfRegions> targets;
  bool targets_excluded = false;
  std::string line;
  kstring_t scratch = {0, 0, nullptr};  // the copy of a line that htslib takes apart
  int64_t records = 0;
};

}  // namespace carbon
