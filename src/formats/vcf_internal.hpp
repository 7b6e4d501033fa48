// What the VCF reader and writer share. Only their source files include it.
#pragma once

#include <htslib/hts.h>
#include <htslib/vcf.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "src/files/text_input.hpp"
#include "src/formats/vcf.hpp"
#include "src/formats/vcf_changes.hpp"
#include "src/formats/vcf_index.hpp"
#include "src/formats/vcf_lines.hpp"

namespace carbon {

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
  VcfRegions read_regions(const std::string& list, const std::string& regions_file,
                          const std::string& what) const;
  void read_targets(const VcfReaderOptions& options);
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
  std::string line, where;  // of the record that was read last; `line` only of VCF
  VcfLineParser parser;
  VcfChanges changes;
  HtsText jumped;  // a line that `jump` has read
  int64_t records = 0;
};

/// Throws Error for a type or a level of compression that there is not, or that do not go together.
void check_output_type(char type, int level);
/// Throws Error if an index is wanted for an output that cannot have it.
void check_output_index(const VcfWriterOptions& options);

}  // namespace carbon
