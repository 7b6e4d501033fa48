// Tables with a tabix index, through htslib's iterators.

#include "src/formats/indexed_table.hpp"

#include <htslib/bgzf.h>
#include <htslib/hts.h>
#include <htslib/kstring.h>
#include <htslib/tbx.h>

#include <cstdlib>

#include "src/base/error.hpp"
#include "src/formats/records_file.hpp"

namespace carbon {
namespace {

struct Delete {
  void operator()(htsFile* file) const { (void)!hts_close(file); }
  void operator()(tbx_t* index) const { tbx_destroy(index); }
  void operator()(hts_itr_t* iterator) const { hts_itr_destroy(iterator); }
};

std::unique_ptr<tbx_t, Delete> load_index(const std::string& path) {
  check_indices(path, "read_table");
  return std::unique_ptr<tbx_t, Delete>(tbx_index_load3(path.c_str(), nullptr, HTS_IDX_SILENT_FAIL));
}

}  // namespace

struct IndexedTable::Impl {
  std::string path, function;
  VcfRegions regions;
  std::unique_ptr<htsFile, Delete> file;
  std::unique_ptr<tbx_t, Delete> index;
  std::unique_ptr<hts_itr_t, Delete> iterator;
  kstring_t text = KS_INITIALIZE;
  size_t contig = 0, interval = 0;  // of the region to open next

  ~Impl() { ks_free(&text); }

  // False if there is no further region. A contig that the index lacks has no lines.
  bool open_next_region() {
    for (; contig < regions.contigs().size(); ++contig, interval = 0) {
      const VcfRegions::Contig& one = regions.contigs()[contig];
      const int number = tbx_name2id(index.get(), one.name.c_str());
      if (number < 0 || interval == one.intervals.size()) continue;
      const VcfInterval& part = one.intervals[interval++];
      read(number, part.begin, part.end + 1);
      return true;
    }
    return false;
  }

  void read(int number, int64_t begin, int64_t end) {
    iterator.reset(tbx_itr_queryi(index.get(), number, begin, end));
    if (!iterator) throw Error(function, path + ": its index is damaged; make it again with tabix -f");
  }
};

bool IndexedTable::has_index(const std::string& path) {
  return load_index(path) != nullptr;
}

IndexedTable::IndexedTable(const std::string& path, const std::string& function, VcfRegions regions)
    : IndexedTable(path, function) {
  regions.merge();
  impl_->regions = std::move(regions);
}

IndexedTable::IndexedTable(const std::string& path, const std::string& function)
    : impl_(std::make_unique<Impl>()) {
  impl_->path = path;
  impl_->function = function;
  impl_->file.reset(open_records(path, path, function));
  if (!impl_->file)
    throw Error(function, "cannot open " + path + "; check the path and that the file is readable");
  if (!impl_->file->is_bgzf || bgzf_compression(impl_->file->fp.bgzf) != 2)
    throw Error(function, path + ": it has an index, but is not compressed by bgzip");
  // Whoever reads the whole file notices this at its end, but regions may not reach the end.
  check_bgzf_end(path, impl_->file->fp.bgzf, function);
  impl_->index = load_index(path);
  if (!impl_->index) throw Error(function, path + ": its index cannot be read; make it again with tabix -f");
  check_index_reaches_end(path, impl_->file->fp.bgzf, function);
}

IndexedTable::~IndexedTable() = default;

bool IndexedTable::has(const std::string& contig) const {
  return tbx_name2id(impl_->index.get(), contig.c_str()) >= 0;
}

std::vector<std::string> IndexedTable::contigs() const {
  struct Free {
    void operator()(const char** names) const { std::free(names); }
  };
  int count = 0;
  const std::unique_ptr<const char*, Free> names(tbx_seqnames(impl_->index.get(), &count));
  return names ? std::vector<std::string>(names.get(), names.get() + count) : std::vector<std::string>();
}

void IndexedTable::seek(const std::string& contig, int64_t begin) {
  const int number = tbx_name2id(impl_->index.get(), contig.c_str());
  if (number < 0) throw Error(impl_->function, impl_->path + ": its index has no contig " + contig);
  impl_->read(number, begin, HTS_POS_MAX);
}

bool IndexedTable::line(std::string& text) {
  while (impl_->iterator || impl_->open_next_region()) {
    const int status =
        tbx_itr_next(impl_->file.get(), impl_->index.get(), impl_->iterator.get(), &impl_->text);
    if (status >= 0) {
      text.assign(impl_->text.s, impl_->text.l);
      if (!text.empty() && text.back() == '\r') text.pop_back();
      return true;
    }
    // htslib 1.16 reports some damaged blocks as the end of the file.
    if (status < -1 || impl_->file->fp.bgzf->errcode != 0)
      throw Error(impl_->function,
                  impl_->path + ": reading by the index failed; the file or its index is damaged");
    impl_->iterator.reset();
  }
  return false;
}

}  // namespace carbon
