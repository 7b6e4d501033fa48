// Writing VCF and BCF: INFO tags, and records as htslib prints them.

#include <htslib/bgzf.h>
#include <htslib/hfile.h>
#include <htslib/kstring.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <new>
#include <unordered_map>

#include "src/base/error.hpp"
#include "src/base/words.hpp"
#include "src/files/output.hpp"
#include "src/formats/provenance.hpp"
#include "src/formats/vcf_internal.hpp"

namespace carbon {

namespace {

constexpr const char* function_name = "write_vcf";

/// The last position of a record, counted from 1.
int64_t last_position(const bcf1_t* record) {
  return record->pos + std::max<hts_pos_t>(record->rlen, 1);
}

std::string open_mode(char type, int level) {
  std::string mode = type == 'u' ? "wbu" : type == 'b' ? "wb" : type == 'z' ? "wz" : "w";
  if (level >= 0) mode += static_cast<char>('0' + level);
  return mode;
}

std::shared_ptr<SharedHeader> empty_header() {
  auto shared = std::make_shared<SharedHeader>();
  shared->header = bcf_hdr_init("w");
  if (!shared->header) throw Error(function_name, "the header cannot be made; out of memory?");
  return shared;
}

/// Removes all values of an INFO id. bcf_update_info would remove only the first of repeated keys.
void remove_info(bcf1_t* record, int id) {
  for (int i = 0; i < static_cast<int>(record->n_info); ++i) {
    bcf_info_t& info = record->d.info[i];
    if (info.key != id || !info.vptr) continue;
    if (info.vptr_free) std::free(info.vptr - info.vptr_off);
    info.vptr_free = 0;
    info.vptr = nullptr;
    info.vptr_off = info.vptr_len = 0;
    record->d.shared_dirty |= BCF1_DIRTY_INF;
  }
}

}  // namespace

void append_vcf_float(float value, std::string& text) {
  kstring_t digits = {0, 0, nullptr};
  const int status = kputd(value, &digits);
  if (status >= 0) text.append(digits.s, digits.l);
  ks_free(&digits);
  if (status < 0) throw std::bad_alloc();
}

struct VcfWriter::Impl {
  /// `whole`: records may lie anywhere in the contigs of the header.
  Impl(std::shared_ptr<SharedHeader> header, const VcfWriterOptions& given, bool whole);
  ~Impl();
  void open_file();
  int tag_id(const std::string& tag) const;
  void set(VcfRecord::Impl& record, const std::string& tag, const void* values, int count, int type);
  void check_contigs() const;
  void check_end(const VcfRecord::Impl& record) const;
  void check_order(const VcfRecord::Impl& record);
  void check_defined(const VcfRecord::Impl& record) const;
  void write(VcfRecord::Impl& record);
  bool compressed() const { return type == 'z' || type == 'b'; }
  void end_block();
  void flush();
  void close();
  void abandon();
  hFILE* stream() const;
  [[noreturn]] void fail(const std::string& what, int code) const;
  [[noreturn]] void fail_writing(const std::string& what) const;

  std::shared_ptr<SharedHeader> shared;
  VcfWriterOptions options;
  char type;
  OutputPath target;
  std::optional<VcfIndexOutput> index;
  int fd = -1;
  htsFile* file = nullptr;
  std::vector<int> own_ids;                // INFO ids whose values in the input are removed
  std::optional<BcfDictionaries> written;  // what the header of the output defines
  int64_t records = 0;
  VcfLineParser parser;  // of new records
  // For check_end(): the last position in reach of the index, and one that needs no check.
  int64_t csi_end = 0, last_checked = 0;
  // For check_order(): the last record and the contigs so far.
  int last_contig = -1;
  int64_t last_pos = -1;
  std::vector<bool> seen_contigs;
};

VcfWriter::Impl::Impl(std::shared_ptr<SharedHeader> header, const VcfWriterOptions& given, bool whole)
    : shared(std::move(header)),
      options(given),
      type(output_type(given)),
      target(given.path, given.temporary) {
  check_output_type(type, options.level);
  check_output_index(options);
  if (options.index != VcfIndexKind::none) {
    if (target.direct())
      throw Error(function_name, target.shown() + " is not a regular file, so it cannot be indexed");
    index.emplace(options);
  }
  const std::lock_guard lock(shared->mutex);
  if (options.index != VcfIndexKind::none) check_lengths(shared->header);
  if (whole) check_contigs();
  extend_input_header(shared->header, options, type == 'u' || type == 'b');
  const VcfHeaderPtr output = make_output_header(shared->header, options);
  for (const InfoTag& tag : options.tags) own_ids.push_back(tag_id(tag.id));
  for (const std::string& id : options.drop_infos) {
    const int number = bcf_hdr_id2int(shared->header, BCF_DT_ID, id.c_str());
    if (number >= 0) own_ids.push_back(number);
  }
  csi_end = end_of_csi(output.get(), type);
  last_checked = std::min(kLastTbiPosition, csi_end);
  written.emplace(shared->header);
  open_file();
  if (options.continued) return;
  errno = 0;
  if (bcf_hdr_write(file, output.get()) < 0) {
    const int code = errno;
    abandon();
    fail("cannot write the header to", code);
  }
}

void VcfWriter::Impl::open_file() {
  const std::string mode = open_mode(type, options.level);
  fd = target.open();
  errno = 0;
  hFILE* stream = hdopen(fd, "w");
  if (!stream) {
    const int code = errno;
    ::close(fd);
    fail("cannot open", code);
  }
  file = hts_hopen(stream, target.shown().c_str(), mode.c_str());
  if (!file) {
    const int code = errno;
    (void)!hclose(stream);
    fail("cannot open", code);
  }
  // Without threads the output is slower and the same.
  if (compressed() && options.compression_threads > 0)
    (void)!hts_set_threads(file, options.compression_threads);
}

VcfWriter::Impl::~Impl() {
  if (file) abandon();
}

/// A normal close would flush the buffer and add the end-of-file marker, so that an incomplete output looks
/// complete.
void VcfWriter::Impl::abandon() {
  abandon_stream(fd, stream());
  hts_close(file);
  file = nullptr;
}

hFILE* VcfWriter::Impl::stream() const {
  return file->is_bgzf ? file->fp.bgzf->fp : file->fp.hfile;
}

void VcfWriter::Impl::fail(const std::string& what, int code) const {
  throw Error(function_name, what + " " + (target.shown() == "-" ? "standard output" : target.shown()) +
                                 (code ? std::string(": ") + std::strerror(code) : ""));
}

/// A thread that compresses also writes, and leaves its error in the stream.
void VcfWriter::Impl::fail_writing(const std::string& what) const {
  const int own = errno, other = herrno(stream());
  fail(what, other ? other : own);
}

int VcfWriter::Impl::tag_id(const std::string& tag) const {
  const bool known = std::any_of(options.tags.begin(), options.tags.end(),
                                 [&](const InfoTag& own) { return own.id == tag; });
  const int id = known ? bcf_hdr_id2int(shared->header, BCF_DT_ID, tag.c_str()) : -1;
  if (id < 0) throw Error(function_name, "the tag " + tag + " was not declared for this output");
  return id;
}

void VcfWriter::Impl::set(VcfRecord::Impl& record, const std::string& tag, const void* values, int count,
                          int kind) {
  const std::lock_guard lock(shared->mutex);
  const int id = tag_id(tag);
  if (bcf_unpack(record.record, BCF_UN_INFO) != 0) {
    throw Error(function_name, record.where() + ": the INFO column is damaged");
  }
  remove_info(record.record, id);
  if (bcf_update_info(shared->header, record.record, tag.c_str(), values, count, kind) < 0) {
    throw Error(function_name, record.where() + ": cannot set " + tag);
  }
  record.set_ids.push_back(id);
}

/// Throws Error for a record that an index cannot hold, so that this is noticed before the end of a long run.
void VcfWriter::Impl::check_order(const VcfRecord::Impl& record) {
  const auto contig = static_cast<size_t>(record.record->rid);
  const int64_t pos = record.record->pos;
  if (contig >= seen_contigs.size()) seen_contigs.resize(contig + 1);
  const bool same = record.record->rid == last_contig;
  if (same ? pos < last_pos : seen_contigs[contig]) {
    throw Error(function_name,
                record.where() +
                    ": the records are not sorted, so the output cannot be indexed; sort the input with "
                    "bcftools sort",
                {"or leave out {--write-index}"});
  }
  seen_contigs[contig] = true;
  last_contig = record.record->rid;
  last_pos = pos;
}

/// Throws Error for a record that ends beyond what the output or its index can hold.
void VcfWriter::Impl::check_end(const VcfRecord::Impl& record) const {
  const int64_t last = last_position(record.record);
  if (last <= last_checked) return;
  const std::string what = record.where() + ": the record ends at position " + std::to_string(last);
  check_last_position(options, last, what);
  if (options.index == VcfIndexKind::csi && last > csi_end)
    throw Error(function_name,
                what +
                    ", but with the lengths that the header gives to contigs the index holds positions of "
                    "up to " +
                    std::to_string(csi_end) +
                    "; correct the lengths, e.g. with bcftools reheader -f FASTA.fai",
                {"or leave out {--write-index}"});
}

/// Throws Error if a contig of the header is longer than the output or its index can hold. `options` has the
/// lengths that the header does not have.
void VcfWriter::Impl::check_contigs() const {
  const std::unordered_map<std::string, int64_t> given(options.contigs.begin(), options.contigs.end());
  for (int i = 0; i < shared->header->n[BCF_DT_CTG]; ++i) {
    const bcf_idpair_t& contig = shared->header->id[BCF_DT_CTG][i];
    if (!contig.key || !contig.val) continue;
    auto length = static_cast<int64_t>(contig.val->info[0]);
    if (const auto found = given.find(contig.key); length == 0 && found != given.end())
      length = found->second;
    check_last_position(options, length,
                        "contig " + std::string(contig.key) + " has " + count_of(length, "base"));
  }
}

void VcfWriter::Impl::write(VcfRecord::Impl& record) {
  if (!file) throw Error(function_name, "write after close");
  if (type == 'v' || type == 'z') check_row_name(function_name, record.contig, "choose BCF with {-O} b");
  check_end(record);
  if (index) check_order(record);
  const std::lock_guard lock(shared->mutex);
  if (bcf_unpack(record.record, BCF_UN_INFO) != 0) {
    throw Error(function_name, record.where() + ": the INFO column is damaged");
  }
  for (const int id : own_ids) {
    const bool set = std::find(record.set_ids.begin(), record.set_ids.end(), id) != record.set_ids.end();
    if (!set) remove_info(record.record, id);
  }
  if (type == 'u' || type == 'b') check_defined(record);
  errno = 0;
  if (bcf_write(file, shared->header, record.record) < 0) {
    fail_writing(record.where() + ": cannot write the record to");
  }
  ++records;
  if (options.records_per_block > 0 && records % options.records_per_block == 0) end_block();
}

/// Throws Error for a record whose contig or names only VCF can have without a definition.
void VcfWriter::Impl::check_defined(const VcfRecord::Impl& record) const {
  if (!written->has_contig(record.record->rid)) {
    throw Error(function_name,
                record.where() +
                    ": the contig is neither in the header nor in the FASTA, so the record cannot be written "
                    "as BCF; add a ##contig line to the header",
                {"or write VCF with {-O} z"});
  }
  // htslib says so only of the first record with a name, which may have been one that is not written.
  if ((record.record->errcode & BCF_ERR_TAG_UNDEF) ||
      written->undefined_name(record.record, options.path, record.where())) {
    throw Error(function_name,
                record.where() +
                    ": a FILTER, INFO or FORMAT name is not defined in the header, so the record cannot be "
                    "written as BCF; define it in the header",
                {"or write VCF with {-O} z"});
  }
}

void VcfWriter::Impl::end_block() {
  if (!file || !compressed()) return;
  errno = 0;
  // Unlike bgzf_flush(), this does not wait for the threads that compress.
  if (bgzf_flush_try(file->fp.bgzf, BGZF_MAX_BLOCK_SIZE) != 0) fail_writing("cannot write");
}

void VcfWriter::Impl::flush() {
  if (!file) return;
  errno = 0;
  if ((compressed() && bgzf_flush(file->fp.bgzf) != 0) || hflush(stream()) != 0) fail_writing("cannot write");
}

void VcfWriter::Impl::close() {
  if (!file) return;
  // Writing can fail here, and then the destructor closes the handle. htslib does not free a handle whose
  // close fails.
  flush();
  htsFile* closing = file;
  file = nullptr;
  errno = 0;
  if (hts_close(closing) != 0) fail("cannot finish writing", errno);
  target.commit();
  if (index) index->build();
}

VcfWriter::VcfWriter(std::shared_ptr<SharedHeader> header, const VcfWriterOptions& options)
    : impl_(std::make_unique<Impl>(std::move(header), options, true)) {}
VcfWriter::VcfWriter(const VcfReader& reader, const VcfWriterOptions& options) {
  const VcfReader::Impl& from = *reader.impl_;
  // Selected records may lie in the beginning of a long contig, and so do all that BCF can hold: they are
  // checked one by one.
  const bool whole = !from.jump && !from.targets && (!from.is_bcf || options.index == VcfIndexKind::tbi);
  impl_ = std::make_unique<Impl>(from.shared, options, whole);
}
VcfWriter::VcfWriter(const VcfWriterOptions& options)
    : impl_(std::make_unique<Impl>(empty_header(), options, false)) {}
VcfWriter::~VcfWriter() = default;

void VcfWriter::set_snv(VcfRecord& record, size_t contig, int64_t pos, char ref, std::string_view alts) {
  VcfRecord::Impl& target = *record.impl_;
  bcf_clear(target.record);
  target.set_ids.clear();
  target.contig = impl_->options.contigs.at(contig).first;
  target.record->rid = bcf_hdr_name2id(impl_->shared->header, target.contig.c_str());
  if (target.record->rid < 0)
    throw Error(function_name, "the name of the sequence " + target.contig + " cannot be written in a VCF");
  target.record->pos = pos;
  target.ref = ref;
  target.alts.clear();
  std::string alleles(1, ref);
  for (const char alt : alts) {
    target.alts.emplace_back(1, alt);
    alleles.append(1, ',').append(1, alt);
  }
  if (bcf_update_alleles_str(impl_->shared->header, target.record, alleles.c_str()) < 0)
    throw Error(function_name, target.where() + ": cannot set the alleles; out of memory?");
}

void VcfWriter::set_line(VcfRecord& record, const std::string& line, const std::string& shown,
                         const std::string& where) {
  VcfRecord::Impl& target = *record.impl_;
  target.record->errcode = 0;
  impl_->parser.parse(*impl_->shared, shown, where, line, target.record);
  target.unpack(*impl_->shared, shown, where);
  target.set_ids = impl_->own_ids;
}

void VcfWriter::set_floats(VcfRecord& record, const std::string& tag, const std::vector<float>& values) {
  VcfRecord::Impl& target = *record.impl_;
  if (values.size() != target.alts.size()) {
    throw Error(function_name, target.where() + ": " + tag + " needs one value for each ALT");
  }
  if (values.empty()) return;
  const std::vector<InfoTag>& own = impl_->options.tags;
  const auto defined =
      std::find_if(own.begin(), own.end(), [&](const InfoTag& known) { return known.id == tag; });
  if (defined != own.end() && defined->type == "Integer") {
    constexpr float kExact = 1 << 24;  // whole numbers of a float
    std::vector<int32_t> wholes;
    for (const float value : values) {
      if (!std::isnan(value) && (std::abs(value) > kExact || value != std::trunc(value)))
        throw Error(function_name, target.where() + ": " + tag + " is no whole number up to 16777216");
      wholes.push_back(std::isnan(value) ? bcf_int32_missing : static_cast<int32_t>(value));
    }
    return impl_->set(target, tag, wholes.data(), static_cast<int>(wholes.size()), BCF_HT_INT);
  }
  // One `.` for several ALTs would be valid VCF, but `bcftools norm -m-` refuses it.
  std::vector<float> encoded = values;
  for (float& value : encoded) {
    if (std::isinf(value)) throw Error(function_name, target.where() + ": " + tag + " is infinite");
    if (std::isnan(value)) bcf_float_set_missing(value);
  }
  impl_->set(target, tag, encoded.data(), static_cast<int>(encoded.size()), BCF_HT_REAL);
}

void VcfWriter::set_strings(VcfRecord& record, const std::string& tag,
                            const std::vector<std::string>& values) {
  VcfRecord::Impl& target = *record.impl_;
  if (values.size() != target.alts.size()) {
    throw Error(function_name, target.where() + ": " + tag + " needs one value for each ALT");
  }
  if (values.empty()) return;
  std::string joined;
  for (const std::string& value : values)
    joined += (joined.empty() ? "" : ",") + (value.empty() ? "." : value);
  impl_->set(target, tag, joined.c_str(), static_cast<int>(joined.size()), BCF_HT_STR);
}

void VcfWriter::write(VcfRecord& record) {
  impl_->write(*record.impl_);
}
void VcfWriter::end_block() {
  impl_->end_block();
}
void VcfWriter::flush_for_reader() {
  if (impl_->type == 'v' && impl_->target.direct()) impl_->flush();
}
void VcfWriter::flush() {
  impl_->flush();
}
void VcfWriter::close() {
  impl_->close();
}

}  // namespace carbon
