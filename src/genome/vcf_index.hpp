// Indexes of VCF and BCF files: jumping to regions with one, and building one. Internal to the reader and the
// writer.
#pragma once

#include <htslib/tbx.h>
#include <htslib/vcf.h>

#include <memory>
#include <string>

#include "src/genome/output.hpp"
#include "src/genome/vcf.hpp"
#include "src/genome/vcf_regions.hpp"

namespace carbon {

/// Reads the records of one region after the other from an open file.
class VcfJump {
 public:
  /// `file` and `header` stay the caller's. Throws Error when the file has no usable index, or is cut.
  VcfJump(htsFile* file, bcf_hdr_t* header, const std::string& path, VcfRegions regions);

  /// The next record that the index offers, as a line of VCF or a record of BCF: 0, -1 at the end, -2 for
  /// damaged data.
  int next(kstring_t& line, bcf1_t* record);
  /// Whether the record with this extent belongs to the current region and not already to the one before.
  bool accepts(const VcfInterval& extent) const;

 private:
  struct Delete {
    void operator()(tbx_t* index) const { tbx_destroy(index); }
    void operator()(hts_idx_t* index) const { hts_idx_destroy(index); }
    void operator()(hts_itr_t* iterator) const { hts_itr_destroy(iterator); }
  };

  void load_index(const std::string& path);
  int contig_number(const std::string& name) const;
  bool open_next_region();

  htsFile* file_;
  bcf_hdr_t* header_;
  bool is_bcf_;
  VcfRegions regions_;
  std::unique_ptr<tbx_t, Delete> text_index_;
  std::unique_ptr<hts_idx_t, Delete> bcf_index_;
  std::unique_ptr<hts_itr_t, Delete> iterator_;
  size_t contig_ = 0, interval_ = 0;  // of the region to open next
  VcfInterval current_;
  int64_t previous_end_ = -1;  // of the region before on the same contig
};

/// The index file of an output: claimed before the work, so that what cannot be written is known then, and
/// built from the finished output.
class VcfIndexOutput {
 public:
  /// Throws Error when no regular file can be written at `path`.csi or .tbi.
  /// `exclusive`: as that of OutputPath.
  VcfIndexOutput(const std::string& path, VcfIndexKind kind, bool exclusive);
  /// Builds the index under a temporary name and renames it.
  void build();

 private:
  std::string path_;
  VcfIndexKind kind_;
  OutputPath target_;
};

}  // namespace carbon
