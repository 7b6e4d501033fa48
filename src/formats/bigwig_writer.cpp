// The only file that includes libBigWig. That library writes the header, the values and their index; the zoom
// levels are bigwig_index.cpp's.

#include "src/formats/bigwig_writer.hpp"

#include <bigWig.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "src/base/error.hpp"
#include "src/files/output.hpp"
#include "src/formats/bigwig_index.hpp"

extern "C" {
#include <bwCommon.h>
}

namespace carbon {
namespace {

constexpr long kIndexOffset = 24;  // where the header says where the index is
constexpr uint32_t kEndMark = BIGWIG_MAGIC;

std::string named(const std::string& path, const std::string& what) {
  return what + " " + path + (errno ? std::string(": ") + std::strerror(errno) : "");
}

struct CloseBigwig {
  void operator()(bigWigFile_t* file) const {
    // Without this bwClose() completes the file.
    file->isWrite = 0;
    bwClose(file);
  }
};

// Frees the leaves of an index that has not become a tree, of which bwClose() knows nothing.
void free_index(bwWriteBuffer_t& buffer) {
  for (bwLL* item = buffer.firstIndexNode; item;) {
    bwLL* next = item->next;
    bwDestroyIndexNode(item->node);
    std::free(item);
    item = next;
  }
  buffer.firstIndexNode = nullptr;
}

int64_t longest(const std::vector<std::pair<std::string, int64_t>>& contigs) {
  int64_t most = 0;
  for (const auto& [name, length] : contigs) most = std::max(most, length);
  return most;
}

}  // namespace

struct BigwigWriter::Impl {
  Impl(const std::string& path, const std::vector<std::pair<std::string, int64_t>>& contigs)
      : target(path), zooms(longest(contigs)) {
    if (target.direct())
      throw Error("write_bigwig", path + " is not a regular file, which a bigWig needs to be");
    std::vector<const char*> list;
    std::vector<uint32_t> lengths;
    for (const auto& [name, length] : contigs) {
      if (length > std::numeric_limits<uint32_t>::max())
        throw Error("write_bigwig", "contig " + name + " has " + std::to_string(length) +
                                        " bases, and a bigWig holds contigs of up to 4294967295");
      names.push_back(name);
      lengths.push_back(static_cast<uint32_t>(length));
    }
    for (const std::string& name : names) list.push_back(name.c_str());
    errno = 0;
    file.reset(bwOpen(target.writable().c_str(), nullptr, "w"));
    if (!file) throw Error("write_bigwig", named(path, "cannot write"));
    const bool made =
        bwCreateHdr(file.get(), static_cast<int32_t>(zooms.levels())) == 0 &&
        (file->cl = bwCreateChromList(list.data(), lengths.data(), static_cast<int64_t>(list.size())));
    if (!made || bwWriteHdr(file.get()) != 0) fail();
    // The header now has room for the zoom levels, which the library is not to compute.
    file->hdr->nLevels = 0;
  }

  ~Impl() {
    if (file && (!file->idx || !file->idx->root)) free_index(*file->writeBuffer);
  }

  std::FILE* stream() const { return file->URL->x.fp; }
  [[noreturn]] void fail() const { throw Error("write_bigwig", named(target.shown(), "cannot write")); }
  // The library does not look at all its writes, but the stream remembers that one failed.
  void check(bool good) const {
    if (!good || std::ferror(stream())) fail();
  }

  OutputPath target;
  std::vector<std::string> names;
  BigwigZooms zooms;
  std::unique_ptr<bigWigFile_t, CloseBigwig> file;
  float least = std::numeric_limits<float>::infinity(), greatest = -least;
};

BigwigWriter::BigwigWriter(const std::string& path,
                           const std::vector<std::pair<std::string, int64_t>>& contigs)
    : impl_(std::make_unique<Impl>(path, contigs)) {}
BigwigWriter::~BigwigWriter() = default;

void BigwigWriter::write(size_t contig, int64_t begin, std::span<const float> values) {
  if (values.empty()) return;
  const uint32_t first = static_cast<uint32_t>(begin), count = static_cast<uint32_t>(values.size());
  bigWigFile_t* file = impl_->file.get();
  errno = 0;
  // Each call ends the block before, so no block is cut in two.
  const int status =
      bwAddIntervalSpanSteps(file, impl_->names[contig].c_str(), first, 1, 1, values.data(), count);
  // The library counts the head of the block as six bases.
  file->writeBuffer->end = first + count;
  impl_->zooms.add(static_cast<uint32_t>(contig), first, values, impl_->stream());
  impl_->check(status == 0);
  const auto [least, greatest] = std::minmax_element(values.begin(), values.end());
  impl_->least = std::min(impl_->least, *least);
  impl_->greatest = std::max(impl_->greatest, *greatest);
}

void BigwigWriter::finish() {
  bigWigFile_t* file = impl_->file.get();
  std::FILE* stream = impl_->stream();
  const bool empty = !(impl_->least <= impl_->greatest);
  // The library overlooks a greatest value that is the first one.
  file->hdr->minVal = empty ? 0 : impl_->least;
  file->hdr->maxVal = empty ? 0 : impl_->greatest;
  errno = 0;
  impl_->check(bwFinalize(file) == 0);
  if (empty) {
    // The library writes no index then, and browsers look for one.
    const uint64_t offset = static_cast<uint64_t>(std::ftell(stream));
    write_bigwig_index(stream, {}, kMostValues);
    const long end = std::ftell(stream);
    std::fseek(stream, kIndexOffset, SEEK_SET);
    std::fwrite(&offset, sizeof offset, 1, stream);
    std::fseek(stream, end, SEEK_SET);
  }
  impl_->zooms.finish(stream);
  std::fwrite(&kEndMark, sizeof kEndMark, 1, stream);
  impl_->check(std::fflush(stream) == 0);
  // bwClose() does not say whether it closed the file, and a network file system reports errors only there.
  const int copy = dup(fileno(stream));
  impl_->check(copy >= 0 && ::close(copy) == 0);
  impl_->file.reset();
}

void BigwigWriter::commit() {
  impl_->target.commit();
}

}  // namespace carbon
