#include "src/formats/snv_table.hpp"

#include <htslib/bgzf.h>
#include <htslib/vcf.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string_view>

#include "src/base/error.hpp"
#include "src/base/json.hpp"
#include "src/base/words.hpp"
#include "src/files/output.hpp"
#include "src/files/text_input.hpp"
#include "src/formats/indexed_table.hpp"
#include "src/formats/records_file.hpp"
#include "src/formats/vcf_header.hpp"

namespace carbon {
namespace {

constexpr const char* kFunction = "snv_table";
// Bases that are read over rather than jumped over: about those between two entries of an index.
constexpr int64_t kReadOver = 16384;
constexpr std::string_view kLetters = "ACGT";

size_t letter_of(std::string_view allele) {
  if (allele.size() != 1) return std::string_view::npos;
  const char c = allele[0];
  return kLetters.find(c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c);
}

/// What one line or record says of one position.
struct Row {
  SnvValues at;
  bool snv = false;  // REF is one base
};

void set_ref(Row& row, std::string_view ref) {
  const size_t letter = letter_of(ref);
  row.snv = letter != std::string_view::npos;
  if (row.snv) row.at.ref = kLetters[letter];
  row.at.values.fill(std::numeric_limits<float>::quiet_NaN());
}

/// Rows of a contig from a position on.
class RowSource {
 public:
  virtual ~RowSource() = default;
  virtual bool has(const std::string& contig) const = 0;
  virtual std::vector<std::string> contigs() const = 0;
  virtual void seek(const std::string& contig, int64_t pos) = 0;
  virtual bool next(Row& row) = 0;
};

class TextRows final : public RowSource {
 public:
  TextRows(const std::string& path, const std::string& tag, bool vcf, const std::string& names)
      : path_(path), tag_(tag), vcf_(vcf), table_(path, kFunction) {
    const std::vector<std::string_view> columns = split(names, '\t');
    const auto column = [&](std::string_view name) {
      const auto found = std::find(columns.begin(), columns.end(), name);
      if (found == columns.end())
        throw Error(kFunction, path + ": the line of names has no column " + std::string(name) +
                                   "; give a table, VCF or BCF of carbon scan");
      return static_cast<size_t>(found - columns.begin());
    };
    pos_ = column("POS");
    ref_ = column("REF");
    alt_ = column("ALT");
    value_ = column(vcf ? "INFO" : tag);
    needed_ = std::max({pos_, ref_, alt_, value_}) + 1;
  }

  bool has(const std::string& contig) const override { return table_.has(contig); }
  std::vector<std::string> contigs() const override { return table_.contigs(); }
  void seek(const std::string& contig, int64_t pos) override { table_.seek(contig, pos); }

  bool next(Row& row) override {
    if (!table_.line(line_)) return false;
    const std::vector<std::string_view> fields = split(line_, '\t');
    if (fields.size() < needed_) damaged("has too few columns");
    const std::string_view pos = fields[pos_];
    const auto [end, problem] = std::from_chars(pos.data(), pos.data() + pos.size(), row.at.pos);
    if (problem != std::errc() || end != pos.data() + pos.size()) damaged("has no number as POS");
    --row.at.pos;
    set_ref(row, fields[ref_]);
    const std::vector<std::string_view> alts = split(fields[alt_], ',');
    const std::vector<std::string_view> values =
        split(vcf_ ? info_value(fields[value_]) : fields[value_], ',');
    if (values.size() != alts.size() && values != std::vector<std::string_view>{"."})
      damaged("has not one value for each ALT");
    for (size_t i = 0; i < alts.size() && i < values.size(); ++i)
      if (const size_t letter = letter_of(alts[i]); letter != std::string_view::npos)
        row.at.values[letter] = number(values[i]);
    return true;
  }

 private:
  std::string_view info_value(std::string_view info) const {
    for (const std::string_view item : split(info, ';'))
      if (item.size() > tag_.size() && item.starts_with(tag_) && item[tag_.size()] == '=')
        return item.substr(tag_.size() + 1);
    return ".";
  }

  float number(std::string_view text) const {
    if (text == ".") return std::numeric_limits<float>::quiet_NaN();
    float value = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (problem != std::errc() || end != text.data() + text.size()) damaged("has no number as " + tag_);
    return value;
  }

  [[noreturn]] void damaged(const std::string& what) const {
    throw Error(kFunction, path_ + ": the line '" + printable(line_.substr(0, 80)) + "' " + what);
  }

  std::string path_, tag_;
  bool vcf_;
  IndexedTable table_;
  size_t pos_ = 0, ref_ = 0, alt_ = 0, value_ = 0, needed_ = 0;  // columns
  std::string line_;
};

class BcfRows final : public RowSource {
 public:
  BcfRows(const std::string& path, const std::string& tag) : path_(path), tag_(tag) {
    file_.reset(open_records(path, path, kFunction));
    if (!file_) throw Error(kFunction, "cannot open " + path + "; check that the file is readable");
    if (file_->is_bgzf) check_bgzf_end(path, file_->fp.bgzf, kFunction);
    header_.reset(bcf_hdr_read(file_.get()));
    if (!header_) throw Error(kFunction, path + ": the header cannot be read; the file is damaged");
    index_.reset(bcf_index_load3(path.c_str(), nullptr, HTS_IDX_SILENT_FAIL));
    if (!index_) throw Error(kFunction, path + " has no index; make one with bcftools index " + path);
    check_index_reaches_end(path, file_->fp.bgzf, kFunction);
    const int id = bcf_hdr_id2int(header_.get(), BCF_DT_ID, tag.c_str());
    if (!bcf_hdr_idinfo_exists(header_.get(), BCF_HL_INFO, id) ||
        bcf_hdr_id2type(header_.get(), BCF_HL_INFO, id) != BCF_HT_REAL)
      throw Error(kFunction, path + ": the header has no INFO tag " + tag + " of Type Float; give a table, " +
                                 "VCF or BCF of carbon scan");
  }
  ~BcfRows() override { std::free(values_); }
  BcfRows(const BcfRows&) = delete;
  BcfRows& operator=(const BcfRows&) = delete;

  std::string header_text() const {
    kstring_t text = KS_INITIALIZE;
    const int status = bcf_hdr_format(header_.get(), 0, &text);
    std::string all(text.s ? text.s : "", text.l);
    ks_free(&text);
    if (status < 0) throw Error(kFunction, path_ + ": the header cannot be read; the file is damaged");
    return all;
  }

  bool has(const std::string& contig) const override {
    return bcf_hdr_name2id(header_.get(), contig.c_str()) >= 0;
  }

  std::vector<std::string> contigs() const override { return contigs_of_header(header_.get()); }

  void seek(const std::string& contig, int64_t pos) override {
    const int number = bcf_hdr_name2id(header_.get(), contig.c_str());
    iterator_.reset(number < 0 || number >= hts_idx_nseq(index_.get())
                        ? nullptr
                        : bcf_itr_queryi(index_.get(), number, pos, HTS_POS_MAX));
  }

  bool next(Row& row) override {
    if (!iterator_) return false;
    const int status = bcf_itr_next(file_.get(), iterator_.get(), record_.get());
    if (status < -1 || (status == -1 && file_->fp.bgzf->errcode != 0))
      throw Error(kFunction, path_ + ": reading by the index failed; the file or its index is damaged");
    if (status == -1) {
      iterator_.reset();
      return false;
    }
    if (bcf_unpack(record_.get(), BCF_UN_INFO) != 0 || record_->n_allele < 1 || record_->errcode != 0)
      throw Error(kFunction, path_ + ": a record is damaged; copy the file again");
    row.at.pos = record_->pos;
    set_ref(row, record_->d.allele[0]);
    const int count = bcf_get_info_float(header_.get(), record_.get(), tag_.c_str(), &values_, &room_);
    for (int i = 0; i < std::min(count, record_->n_allele - 1); ++i)
      if (const size_t letter = letter_of(record_->d.allele[i + 1]); letter != std::string_view::npos)
        row.at.values[letter] = bcf_float_is_missing(values_[i]) || bcf_float_is_vector_end(values_[i])
                                    ? std::numeric_limits<float>::quiet_NaN()
                                    : values_[i];
    return true;
  }

 private:
  struct Delete {
    void operator()(htsFile* file) const { (void)!hts_close(file); }
    void operator()(bcf_hdr_t* header) const { bcf_hdr_destroy(header); }
    void operator()(hts_idx_t* index) const { hts_idx_destroy(index); }
    void operator()(hts_itr_t* iterator) const { hts_itr_destroy(iterator); }
    void operator()(bcf1_t* record) const { bcf_destroy(record); }
  };

  std::string path_, tag_;
  std::unique_ptr<htsFile, Delete> file_;
  std::unique_ptr<bcf_hdr_t, Delete> header_;
  std::unique_ptr<hts_idx_t, Delete> index_;
  std::unique_ptr<hts_itr_t, Delete> iterator_;
  std::unique_ptr<bcf1_t, Delete> record_{bcf_init()};
  float* values_ = nullptr;
  int room_ = 0;
};

bool is_bcf(const std::string& path) {
  htsFile* const file = open_records(path, path, kFunction);
  if (!file) throw Error(kFunction, "cannot open " + path + "; check the path and that the file is readable");
  const htsExactFormat format = hts_get_format(file)->format;
  (void)!hts_close(file);
  return format == bcf;
}

}  // namespace

struct SnvTable::Impl {
  std::string path;
  std::vector<std::string> header;
  std::unique_ptr<RowSource> rows;
  std::string contig;          // of the rows that come
  std::optional<Row> pending;  // read, and not yet part of `found`
  SnvValues found;
  int64_t next = 0;  // rows from here on come

  void read_text(const std::string& tag);
  void read_bcf(const std::string& tag);
  void go_to(const std::string& name, int64_t pos);
  bool peek();
};

void SnvTable::Impl::read_text(const std::string& tag) {
  TextInput input(path, kFunction);
  std::string line;
  bool names = false;
  while (!names && input.line(line) && line.starts_with('#')) {
    names = !line.starts_with("##");
    if (!names) header.push_back(line);
  }
  if (!names)
    throw Error(kFunction, path +
                               ": there is no line of names (#CHROM ...) after the header; give a table, "
                               "VCF or BCF of carbon scan");
  if (!IndexedTable::has_index(path))
    throw Error(kFunction,
                path + " has no index; " +
                    (path.ends_with("gz")
                         ? "make one with tabix -s1 -b2 -e2 " + path
                         : "if it is not compressed, run bgzip, then tabix -s1 -b2 -e2 " + path + ".gz"));
  const bool vcf = !header.empty() && header.front().starts_with("##fileformat=VCF");
  rows = std::make_unique<TextRows>(path, tag, vcf, line.substr(1));
}

void SnvTable::Impl::read_bcf(const std::string& tag) {
  check_indices(path, kFunction);
  auto source = std::make_unique<BcfRows>(path, tag);
  const std::string text = source->header_text();
  for (const std::string_view line : split(text, '\n'))
    if (line.starts_with("##")) header.emplace_back(line);
  rows = std::move(source);
}

bool SnvTable::Impl::peek() {
  if (pending) return true;
  Row row;
  if (!rows->next(row)) return false;
  pending = row;
  return true;
}

void SnvTable::Impl::go_to(const std::string& name, int64_t pos) {
  const bool ahead = name == contig && pos >= next && pos - next < kReadOver;
  if (!ahead) {
    rows->seek(name, pos);
    contig = name;
    pending.reset();
  }
  next = pos;
  while (peek() && pending->at.pos < pos) pending.reset();
}

SnvTable::SnvTable(const std::string& path, const std::string& tag) : impl_(std::make_unique<Impl>()) {
  impl_->path = path;
  if (is_stream(path))
    throw Error(kFunction, path +
                               " is not a regular file, and a table is looked up by its index; write it to a "
                               "file, and make an index with tabix -s1 -b2 -e2");
  if (is_bcf(path)) {
    impl_->read_bcf(tag);
  } else {
    impl_->read_text(tag);
  }
}

SnvTable::~SnvTable() = default;
SnvTable::SnvTable(SnvTable&&) noexcept = default;
SnvTable& SnvTable::operator=(SnvTable&&) noexcept = default;

const std::string& SnvTable::path() const {
  return impl_->path;
}

const std::vector<std::string>& SnvTable::header_lines() const {
  return impl_->header;
}

bool SnvTable::has_contig(const std::string& contig) const {
  return impl_->rows->has(contig);
}

std::vector<std::string> SnvTable::contigs() const {
  return impl_->rows->contigs();
}

// All rows of the position are read at once, as a table has one for each SNV.
const SnvValues* SnvTable::at(const std::string& contig, int64_t pos) {
  Impl& all = *impl_;
  if (contig == all.contig && all.found.pos >= 0 && pos == all.found.pos) return &all.found;
  all.go_to(contig, pos);
  all.found = {};
  for (; all.peek() && all.pending->at.pos == pos; all.pending.reset()) {
    const Row& row = *all.pending;
    if (!row.snv) continue;
    if (all.found.pos < 0) {
      all.found = row.at;
      continue;
    }
    if (row.at.ref != all.found.ref)
      throw Error(kFunction, all.path + ": " + contig + ":" + std::to_string(pos + 1) + " has two REF");
    for (size_t i = 0; i < row.at.values.size(); ++i)
      if (row.at.values[i] == row.at.values[i]) all.found.values[i] = row.at.values[i];
  }
  all.next = pos + 1;
  return all.found.pos < 0 ? nullptr : &all.found;
}

}  // namespace carbon
