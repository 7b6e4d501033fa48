// Index jumps and index files, through htslib's iterators and builders.

#include "src/formats/vcf_internal.hpp"

#include <htslib/bgzf.h>
#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "src/base/error.hpp"
#include "src/base/words.hpp"
#include "src/files/file_name.hpp"
#include "src/files/htslib_messages.hpp"
#include "src/formats/contig_spelling.hpp"
#include "src/formats/records_file.hpp"

namespace carbon {

namespace {

constexpr const char* function_name = "read_vcf";
constexpr int csi_min_shift = 14;  // what bcftools index uses

/// Warns if the index is older than the file.
void warn_if_older(const std::string& path, Log& log) {
  const std::vector<std::string> indices = local_indices(path);
  struct stat data = {}, index = {};
  if (indices.empty() || stat(split_index_name(path).file.c_str(), &data) != 0 ||
      stat(indices.front().c_str(), &index) != 0 || index.st_mtime >= data.st_mtime)
    return;
  log.warning(function_name, indices.front() +
                                 " is older than the file it indexes; if records are missing, build it again "
                                 "with bcftools index -f");
}

}  // namespace

VcfJump::VcfJump(htsFile* file, bcf_hdr_t* header, const std::string& path, VcfRegions regions, Log& log)
    : file_(file),
      header_(header),
      is_bcf_(file->format.format == bcf),
      dictionaries_(header),
      regions_(std::move(regions)) {
  if (path == "-") {
    throw Error(function_name, "standard input has no index, so regions cannot be looked up in it",
                {"or use {--targets} or {--targets-file}, which need no index"});
  }
  if (!file->is_bgzf || bgzf_compression(file->fp.bgzf) != 2) {
    throw Error(function_name,
                path +
                    ": regions can be looked up only in a BGZF-compressed file with an index; make them with "
                    "bcftools view -Oz and bcftools index",
                {"or use {--targets} or {--targets-file}, which need no index"});
  }
  // Whoever reads the whole file notices this at its end, but regions may not reach the end.
  check_bgzf_end(path, file->fp.bgzf, function_name);
  load_index(path);
  if (!text_index_ && !bcf_index_) {
    throw Error(function_name,
                path +
                    ": there is no usable index (.csi or .tbi), without which regions cannot be looked up; "
                    "make one with bcftools index -f",
                {"or use {--targets} or {--targets-file}, which need no index"});
  }
  check_index_reaches_end(path, file->fp.bgzf, function_name);
  warn_if_older(path, log);
  // A contig that the file has in another spelling was named before.
  const ContigSpellings spellings(contigs_of_header(header_));
  std::vector<std::string> unknown;
  for (const VcfRegions::Contig& contig : regions_.contigs())
    if (contig_number(contig.name) < 0 && bcf_hdr_name2id(header_, contig.name.c_str()) < 0 &&
        spellings.other(contig.name).empty())
      unknown.push_back(contig.name);
  warn_of_unknown_contigs(unknown, "regions", split_index_name(path).file, {}, log);
}

void VcfJump::load_index(const std::string& path) {
  if (is_bcf_) {
    bcf_index_.reset(bcf_index_load3(path.c_str(), nullptr, HTS_IDX_SILENT_FAIL));
  } else {
    text_index_.reset(tbx_index_load3(path.c_str(), nullptr, HTS_IDX_SILENT_FAIL));
  }
}

int VcfJump::contig_number(const std::string& name) const {
  return is_bcf_ ? bcf_hdr_name2id(header_, name.c_str()) : tbx_name2id(text_index_.get(), name.c_str());
}

/// Whether a contig of BCF can have records by the index. The writer may have added it to the header. If
/// numbers have gaps, an index has as many contigs as the header defines, which leaves out those with larger
/// numbers. Throws Error for one with fewer, which belongs to another file; htslib before 1.17 refuses to
/// search it, and later ones find nothing.
bool VcfJump::may_have_records(int contig) const {
  if (!dictionaries_.has_contig(contig)) return false;
  const int indexed = hts_idx_nseq(bcf_index_.get());
  if (contig >= indexed && indexed < dictionaries_.count_contigs())
    throw Error(function_name, "the index has " + count_of(indexed, "contig") + " and the file " +
                                   std::to_string(dictionaries_.count_contigs()) +
                                   ", so it belongs to another file; build it again with bcftools index -f");
  return contig < indexed;
}

bool VcfJump::open_next_region() {
  const std::vector<VcfRegions::Contig>& contigs = regions_.contigs();
  while (contig_ < contigs.size() && interval_ == contigs[contig_].intervals.size()) {
    ++contig_;
    interval_ = 0;
  }
  if (contig_ == contigs.size()) return false;
  previous_end_ = interval_ == 0 ? -1 : current_.end;
  current_ = contigs[contig_].intervals[interval_++];
  const int number = contig_number(contigs[contig_].name);
  if (number < 0) return true;
  const int64_t begin = std::max<int64_t>(current_.begin, 0);
  if (current_.end < begin) return true;
  if (is_bcf_ && !may_have_records(number)) return true;
  hts_itr_t* opened = is_bcf_ ? bcf_itr_queryi(bcf_index_.get(), number, begin, current_.end + 1)
                              : tbx_itr_queryi(text_index_.get(), number, begin, current_.end + 1);
  iterator_.reset(opened);
  if (!opened) {
    throw Error(function_name, contigs[contig_].name + ":" + std::to_string(begin + 1) + "-" +
                                   std::to_string(current_.end + 1) +
                                   ": the index cannot be searched; build it again with bcftools index -f");
  }
  return true;
}

int VcfJump::next(kstring_t& line, bcf1_t* record) {
  for (;;) {
    if (!iterator_) {
      if (!open_next_region()) return -1;
      continue;
    }
    // Says below whether a record was read: if not, this number is still there.
    if (is_bcf_) record->rid = iterator_->tid;
    const int status = is_bcf_ ? bcf_itr_next(file_, iterator_.get(), record)
                               : tbx_itr_next(file_, text_index_.get(), iterator_.get(), &line);
    // htslib 1.16 reports some damaged blocks as the end of the file.
    if (file_->fp.bgzf->errcode || status < -1) return -2;
    if (status >= 0) return 0;
    // A record of another contig ends the region, also if there is no such contig.
    if (is_bcf_ && !dictionaries_.has_contig(record->rid)) return -2;
    iterator_.reset();
  }
}

bool VcfJump::accepts(const VcfInterval& extent) const {
  return extent.begin > previous_end_ && extent.end >= current_.begin && extent.begin <= current_.end;
}

int64_t end_of_csi(const bcf_hdr_t* header, char type) {
  uint64_t longest = 0;
  for (int i = 0; i < header->n[BCF_DT_CTG]; ++i)
    if (const bcf_idinfo_t* contig = header->id[BCF_DT_CTG][i].val)
      longest = std::max<uint64_t>(longest, contig->info[0]);
  if (longest == 0) longest = uint64_t{1} << 31;
  const uint64_t margin = 256;  // of htslib
  // A header may have lengths that no index reaches; beyond this, a further level would be no number.
  constexpr uint64_t most = uint64_t{1} << 62;
  uint64_t end = uint64_t{1} << (type == 'z' ? 32 : csi_min_shift);
  while (end < most && end - margin < longest) end = end > most / 8 ? most : end * 8;
  return static_cast<int64_t>(end);
}

VcfIndexOutput::VcfIndexOutput(const VcfWriterOptions& options, IndexedFormat format)
    : path_(options.path),
      kind_(options.index),
      format_(format),
      csi_shift_(format == IndexedFormat::table ? table_index_shift(options) : csi_min_shift),
      log_(*options.log),
      target_(options.path + (options.index == VcfIndexKind::tbi ? ".tbi" : ".csi"),
              options.temporary == TemporaryName::kept ? TemporaryName::fixed : options.temporary) {
  if (target_.direct()) {
    throw Error("write_index", target_.shown() + " is not a regular file, so no index can be written there");
  }
}

void VcfIndexOutput::build() {
  const bool tbi = kind_ == VcfIndexKind::tbi;
  const int shift = tbi ? 0 : csi_shift_;
  const char* const target = target_.writable().c_str();
  const tbx_conf_t columns = {TBX_GENERIC, 1, 2, 2, '#', 0};
  const auto build_it = [&] {
    return format_ == IndexedFormat::table ? tbx_index_build3(path_.c_str(), target, shift, 0, &columns)
                                           : bcf_index_build3(path_.c_str(), target, shift, 0);
  };
  if (build_it() != 0) {
    const std::string reason = htslib_reason(build_it);
    throw Error(
        "write_index",
        "cannot build " + target_.shown() + ", though " + path_ + " is complete: " +
            (reason.empty() ? "no space is left, or a record lies far beyond the length of its contig in "
                              "the header"
                            : "htslib: " + reason) +
            "; correct that and run " +
            (format_ == IndexedFormat::table ? "tabix -s1 -b2 -e2" : "bcftools index"));
  }
  target_.commit();
  struct stat info = {};
  if (tbi && stat((path_ + ".csi").c_str(), &info) == 0) {
    log_.warning("write_index", path_ + ".csi belongs to an earlier file, but programs prefer it to " +
                                    target_.shown() + "; remove it");
  }
}

}  // namespace carbon
