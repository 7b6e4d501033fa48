// Indexes of VCF and BCF files: jumping to regions by an index, and building an index. Internal to the reader
// and the writer.
#pragma once

#include <htslib/tbx.h>
#include <htslib/vcf.h>

#include <memory>
#include <string>

#include "src/files/output.hpp"
#include "src/formats/vcf.hpp"
#include "src/formats/vcf_lines.hpp"
#include "src/formats/vcf_regions.hpp"

namespace carbon {

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

}  // namespace carbon
