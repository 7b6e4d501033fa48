// Reading VCF and BCF. Lines of VCF come through TextInput, which notices cut and damaged files; htslib
// parses them.

#include <htslib/bgzf.h>
#include <htslib/tbx.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "src/base/error.hpp"
#include "src/base/words.hpp"
#include "src/files/file_name.hpp"
#include "src/files/htslib_messages.hpp"
#include "src/formats/contig_names.hpp"
#include "src/formats/contig_spelling.hpp"
#include "src/formats/records_file.hpp"
#include "src/formats/vcf_header.hpp"
#include "src/formats/vcf_internal.hpp"

namespace carbon {

namespace {

bool is_blank(std::string_view line) {
  return line.find_first_not_of(" \t") == line.npos;
}

/// A list or a file of regions. `name` is what messages call them.
void check_one_given(const std::string& list, const std::string& file, const std::string& name) {
  if (!list.empty() && !file.empty()) {
    throw Error("read_vcf",
                "a list of " + name + " and a file of " + name + " were both given; give one of the two");
  }
}

}  // namespace

void warn_of_unknown_contigs(const std::vector<std::string>& contigs, const std::string& what,
                             const std::string& shown, const std::vector<std::string>& known, Log& log) {
  constexpr size_t kShown = 3;
  if (contigs.empty()) return;
  std::vector<std::string> names(contigs.begin(),
                                 contigs.begin() + static_cast<ptrdiff_t>(std::min(contigs.size(), kShown)));
  if (contigs.size() > kShown) names.push_back(std::to_string(contigs.size() - kShown) + " more");
  log.warning("read_vcf", (contigs.size() == 1 ? "contig " : "contigs ") + and_list(names) + " of the " +
                              what + (contigs.size() == 1 ? " is" : " are") + " not in " + shown +
                              respelled(contigs, known, "the file").words);
}

VcfRecord::Impl::Impl() : record(bcf_init()) {
  if (!record) throw std::bad_alloc();
}

VcfRecord::VcfRecord() : impl_(std::make_unique<Impl>()) {}
VcfRecord::~VcfRecord() = default;
VcfRecord::VcfRecord(VcfRecord&&) noexcept = default;
VcfRecord& VcfRecord::operator=(VcfRecord&&) noexcept = default;
int64_t VcfRecord::pos() const {
  return impl_->record->pos;
}
std::string VcfRecord::id() const {
  return impl_->record->d.id ? impl_->record->d.id : ".";
}
const std::string& VcfRecord::contig() const {
  return impl_->contig;
}
const std::string& VcfRecord::ref() const {
  return impl_->ref;
}
size_t VcfRecord::bytes() const {
  size_t alleles = impl_->contig.capacity() + impl_->ref.capacity();
  for (const std::string& alt : impl_->alts) alleles += sizeof(alt) + alt.capacity();
  return sizeof(Impl) + sizeof(bcf1_t) + impl_->record->shared.m + impl_->record->indiv.m + alleles;
}
const std::vector<std::string>& VcfRecord::alts() const {
  return impl_->alts;
}

VcfReader::Impl::Impl(const std::string& name, const VcfReaderOptions& options, Log& to)
    : path(name),
      shown(shown_path(split_index_name(name).file)),
      log(to),
      regions_overlap(options.regions_overlap),
      targets_overlap(options.targets_overlap) {
  const bool jumps = !options.regions.empty() || !options.regions_file.empty();
  check_one_given(options.regions, options.regions_file, "regions");
  check_one_given(options.targets, options.targets_file, "targets");
  file = open_records(path, shown, "read_vcf");
  if (!file && errno == ENOEXEC) fail_unknown();
  if (!file) fail(std::string("cannot open: ") + (errno ? std::strerror(errno) : "unknown error"));
  try {
    const htsExactFormat format = hts_get_format(file)->format;
    if (format == empty_format) fail("the file is empty; give a VCF or BCF file, at least with a header");
    if (format != vcf && format != bcf) fail_unknown();
    is_bcf = format == bcf;
    read_header(jumps);
    read_targets(options);
    if (jumps) {
      VcfRegions regions = read_regions(options.regions, options.regions_file, "regions");
      text.reset();
      jump = std::make_unique<VcfJump>(file, shared->header, path, std::move(regions), log);
    }
  } catch (...) {
    jump.reset();
    hts_close(file);
    throw;
  }
}

VcfReader::Impl::~Impl() {
  jump.reset();
  if (file) hts_close(file);
  changes.report(shown, log);
}

/// An index is read only if it is needed: to jump, or for the contigs of a text that does not define any.
void VcfReader::Impl::read_header(bool jumps) {
  if (is_bcf) {
    VcfHeaderText read = read_binary_header(file->fp.bgzf, shown);
    shared->header = read.header.release();
    shared->text = std::move(read.text);
    dictionaries.emplace(shared->header);
  } else {
    VcfHeaderText read = read_text_header(file, shown);
    shared->header = read.header.release();
    shared->text = std::move(read.text);
    header_ended = read.ended;
    text = std::make_unique<TextInput>(shown, "read_vcf", file->is_bgzf ? file->fp.bgzf : nullptr,
                                       file->is_bgzf ? nullptr : file->fp.hfile, read.lines);
  }
  warn_of_header_changes(shared->header, shared->text, shown, log);
  const bool lacks_contigs = !is_bcf && shared->header->n[BCF_DT_CTG] == 0;
  if (path == "-" || (!jumps && !lacks_contigs)) return;
  check_indices(path, "read_vcf");
  if (!is_bcf) add_contigs_of_index(path, shared->header);
}

/// The regions of a list or of a file, of which one is given. `what` is what messages call them. A contig
/// under another name selects nothing, which is no error: the file may have no variant there.
VcfRegions VcfReader::Impl::read_regions(const std::string& list, const std::string& regions_file,
                                         const std::string& what) {
  const std::vector<std::string> names = contigs_of_header(shared->header);
  const KnownContig known = [&](const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  VcfRegions regions =
      list.empty() ? VcfRegions::from_file(regions_file, known, log) : VcfRegions::from_list(list, known);
  const ContigSpellings spellings(names);
  for (const VcfRegions::Contig& contig : regions.contigs())
    if (const std::string other = spellings.other(contig.name); !other.empty()) {
      respelled.insert(contig.name);
      log.warning("read_vcf",
                  "the " + what + " name contig " + contig.name + ", which " + shown + " calls " + other);
    }
  return regions;
}

/// By the records that were read: a text need not define its contigs, and then has those of its records only
/// when it is read.
void VcfReader::Impl::warn_of_unknown_targets() const {
  if (!targets) return;
  std::vector<std::string> names;
  {
    const std::lock_guard lock(shared->mutex);
    names = contigs_of_header(shared->header);
  }
  const std::unordered_set<std::string_view> known(names.begin(), names.end());
  std::vector<std::string> unknown;
  for (const VcfRegions::Contig& contig : targets->contigs())
    if (!respelled.contains(contig.name) && !known.contains(contig.name)) unknown.push_back(contig.name);
  warn_of_unknown_contigs(unknown, "targets", shown, names, log);
}

void VcfReader::Impl::read_targets(const VcfReaderOptions& options) {
  const auto without_caret = [&](const std::string& given) {
    targets_excluded |= given.starts_with('^');
    return given.starts_with('^') ? given.substr(1) : given;
  };
  const std::string list = without_caret(options.targets), targets_file = without_caret(options.targets_file);
  if (list.empty() && targets_file.empty()) {
    if (targets_excluded) fail("nothing follows the ^ of the targets; give the records to leave out");
    return;
  }
  targets = read_regions(list, targets_file, "targets");
  targets->merge();
}

void VcfReader::Impl::fail(const std::string& what) const {
  throw Error("read_vcf", shown + ": " + what);
}

void VcfReader::Impl::fail_unknown() const {
  if (file) {
    // Looking at it tells the marks that a text may begin with.
    TextInput beginning(shown, "read_vcf", file->is_bgzf ? file->fp.bgzf : nullptr,
                        file->is_bgzf ? nullptr : file->fp.hfile, 0);
    const std::string_view first = beginning.peek();
    if (first.starts_with('>'))
      fail("this is FASTA, and not VCF or BCF; are the reference and the variants swapped?");
    if (first.starts_with("##carbon_"))
      fail("this is a table that carbon wrote, and not VCF or BCF; name a VCF, such as 'carbon vep' writes");
  }
  fail("no header: the file does not begin with ##fileformat=VCF and is not BCF, or it is damaged");
}

// Editors and scripts leave it out; but a cut in the last column looks like that.
void VcfReader::Impl::warn_of_missing_newline(const std::string& what) const {
  log.warning("read_vcf",
              shown + ": " + what + " has no newline; if the file was copied, see that it is whole");
}

// Editors and scripts add blank lines at the end. One before a record may be what is left of another record.
void VcfReader::Impl::read_blank_end() {
  const std::string where = "line " + std::to_string(text->line_number());
  while (text->line(line))
    if (!is_blank(line))
      fail(where + " is blank, and records follow it; see that no record is lost there, and delete the line");
  log.warning("read_vcf", shown + ": " + where + ", the end of the file, is blank and is skipped");
}

bool VcfReader::Impl::read_text(bcf1_t* record) {
  if (!text->line(line)) return false;
  if (is_blank(line)) {
    read_blank_end();
    return false;
  }
  ++records;
  where = "line " + std::to_string(text->line_number());
  if (!text->newline_seen()) {
    const int samples = bcf_hdr_nsamples(shared->header);
    const auto wanted = samples == 0 ? 8 : 9 + samples;
    if (std::count(line.begin(), line.end(), '\t') + 1 < wanted)
      fail(place_of_line(where, line) +
           ": the last line has fewer columns than the header names and no newline, so the file is cut; "
           "copy it again");
    warn_of_missing_newline(place_of_line(where, line) + ": the last line");
  }
  parser.parse(*shared, shown, where, line, record);
  return true;
}

bool VcfReader::Impl::read_jump(bcf1_t* record) {
  const int status = jump->next(jumped.text, record);
  if (status == -1) return false;
  ++records;
  where = "record " + std::to_string(records) + " in the regions";
  if (status < -1) {
    fail("the data are damaged at " + where +
         ", or the index belongs to another file; copy the file again and run bcftools index -f");
  }
  if (is_bcf) {
    check_record(record, 0, shown, where);
    dictionaries->check(record, shown, where);
    return true;
  }
  line.assign(jumped.text.s, jumped.text.l);
  if (line.ends_with('\r')) line.pop_back();
  parser.parse(*shared, shown, where, line, record);
  return true;
}

bool VcfReader::Impl::read_bcf(bcf1_t* record) {
  BGZF* const stream = file->is_bgzf ? file->fp.bgzf : nullptr;
  const int64_t begin = stream ? bgzf_tell(stream) : 0;
  const int status = bcf_read(file, shared->header, record);
  if (status == -1 && (!stream || !stream->errcode)) {
    if (stream && stream->is_compressed && !stream->is_gzip && stream->no_eof_block) {
      fail("the BGZF end-of-file marker is missing after record " + std::to_string(records) +
           ", so the file is probably cut; copy it again");
    }
    return false;
  }
  ++records;
  if (stream && stream->errcode) {
    fail("the compressed data are cut or damaged at record " + std::to_string(records) +
         "; copy the file again");
  }
  where = "record " + std::to_string(records);
  const auto read_again = [&] {
    if (bgzf_seek(stream, begin, SEEK_SET) == 0) (void)!bcf_read(file, shared->header, record);
  };
  const bool refused = status < 0 && stream && path != "-";
  check_record(record, status, shown, where, refused ? htslib_reason(read_again) : "");
  dictionaries->check(record, shown, where);
  return true;
}

void VcfReader::Impl::finish() {
  done = true;
  jump.reset();
  if (text && !header_ended) warn_of_missing_newline("the last header line");
  text.reset();
  htsFile* closing = file;
  file = nullptr;
  // htslib 1.16 reports some damaged blocks only here.
  if (hts_close(closing) != 0) {
    fail("the file is cut or damaged (noticed when it was closed, after " + std::to_string(records) +
         " records); copy it again");
  }
  changes.report(shown, log);
  warn_of_unknown_targets();
}

bool VcfReader::Impl::selected(const VcfRecord::Impl& record) const {
  const auto extent = [&](VcfOverlap overlap) {
    return vcf_extent(overlap, record.record->pos, record.record->rlen, record.ref, record.alts);
  };
  if (jump && !jump->accepts(extent(regions_overlap))) return false;
  return !targets || targets->overlap(record.contig, extent(targets_overlap)) != targets_excluded;
}

bool VcfReader::Impl::next(VcfRecord::Impl& out) {
  while (!done && read(out)) {
    if (!selected(out)) continue;
    if (!is_bcf) changes.compare(*shared, out.record, line, where);
    return true;
  }
  return false;
}

bool VcfReader::Impl::read(VcfRecord::Impl& out) {
  out.set_ids.clear();
  out.record->errcode = 0;
  if (!(jump ? read_jump(out.record) : is_bcf ? read_bcf(out.record) : read_text(out.record))) {
    finish();
    return false;
  }
  out.unpack(*shared, shown, "record " + std::to_string(records));
  return true;
}

VcfReader::VcfReader(const std::string& path, const VcfReaderOptions& options, Log& log)
    : impl_(std::make_unique<Impl>(path, options, log)) {}
VcfReader::~VcfReader() = default;
bool VcfReader::next(VcfRecord& record) {
  return impl_->next(*record.impl_);
}

std::vector<std::string> VcfReader::contigs() const {
  const std::lock_guard lock(impl_->shared->mutex);
  return contigs_of_header(impl_->shared->header);
}

std::unordered_map<std::string, int64_t> VcfReader::contig_lengths() const {
  const std::lock_guard lock(impl_->shared->mutex);
  const bcf_hdr_t* header = impl_->shared->header;
  std::unordered_map<std::string, int64_t> lengths;
  for (int id = 0; id < header->n[BCF_DT_CTG]; ++id) {
    const bcf_idpair_t& entry = header->id[BCF_DT_CTG][id];
    if (!entry.key || !entry.val) continue;
    const auto length = static_cast<int64_t>(entry.val->info[0]);
    if (length > 0) lengths.emplace(entry.key, length);
  }
  return lengths;
}

std::optional<uint64_t> VcfReader::indexed_records() const {
  struct Delete {
    void operator()(hts_idx_t* index) const { hts_idx_destroy(index); }
    void operator()(tbx_t* index) const { tbx_destroy(index); }
  };
  if (impl_->path == "-" || impl_->jump || impl_->targets) return std::nullopt;
  const char* const path = impl_->path.c_str();
  try {
    check_indices(impl_->path, "read_vcf");
  } catch (const Error&) {
    return std::nullopt;  // nothing else needs the index
  }
  std::unique_ptr<hts_idx_t, Delete> bcf;
  std::unique_ptr<tbx_t, Delete> vcf;
  if (impl_->is_bcf) {
    bcf.reset(bcf_index_load3(path, nullptr, HTS_IDX_SILENT_FAIL));
  } else {
    vcf.reset(tbx_index_load3(path, nullptr, HTS_IDX_SILENT_FAIL));
  }
  hts_idx_t* const index = vcf ? vcf->idx : bcf.get();
  if (!index) return std::nullopt;
  uint64_t records = 0;
  for (int contig = 0; contig < hts_idx_nseq(index); ++contig) {
    uint64_t mapped = 0, unmapped = 0;
    if (hts_idx_get_stat(index, contig, &mapped, &unmapped) == 0) records += mapped;
  }
  return records > 0 ? std::optional<uint64_t>(records) : std::nullopt;
}

std::vector<std::string> VcfReader::header_lines(const std::string& key) const {
  const std::string_view text = impl_->shared->text;
  const std::string start = "##" + key + "=";
  std::vector<std::string> lines;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = text.find('\n', begin);
    const std::string_view line = text.substr(begin, end - begin);
    if (line.starts_with(start)) lines.emplace_back(without_number(line));
    begin = end + 1;
  }
  return lines;
}

std::vector<std::string> VcfReader::info_tags() const {
  const std::lock_guard lock(impl_->shared->mutex);
  const bcf_hdr_t* header = impl_->shared->header;
  std::vector<std::string> tags;
  // The numbers of a header that came from BCF may have gaps.
  for (int id = 0; id < header->n[BCF_DT_ID]; ++id)
    if (const bcf_idpair_t& entry = header->id[BCF_DT_ID][id];
        entry.key && entry.val && bcf_hdr_idinfo_exists(header, BCF_HL_INFO, id))
      tags.emplace_back(entry.key);
  return tags;
}

}  // namespace carbon
