// The layout of .gzi (htslib's bgzf.h) and of BGZF blocks (the SAM specification, section 4.1).
#include "src/files/bgzf_blocks.hpp"

#include <fcntl.h>
#include <htslib/bgzf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <numeric>
#include <utility>

#include "src/base/error.hpp"
#include "src/files/temporary_files.hpp"

namespace carbon {
namespace {

constexpr size_t kHeaderBytes = 18, kFooterBytes = 8;
// More than any file of sequences; the numbers of an index can then be added without an overflow.
constexpr uint64_t kMostPlain = uint64_t{1} << 55;

uint64_t little_endian(const unsigned char* bytes, int count) {
  uint64_t value = 0;
  for (int i = count - 1; i >= 0; --i) value = value << 8 | bytes[i];
  return value;
}

bool read_fully(int fd, unsigned char* bytes, size_t count, uint64_t at) {
  return read_at(fd, reinterpret_cast<char*>(bytes), count, at) == static_cast<ssize_t>(count);
}

struct BlockSizes {
  uint64_t compressed = 0, plain = 0;
};

/// The sizes of the block at a place of the file, from its header and its end. False if there is none.
bool read_sizes(int fd, uint64_t at, BlockSizes& sizes) {
  unsigned char header[kHeaderBytes], footer[kFooterBytes];
  if (!read_fully(fd, header, sizeof header, at)) return false;
  // gzip with one extra field "BC" of two bytes, the number of the block's last byte.
  if (std::memcmp(header, "\x1f\x8b\x08\x04", 4) != 0 || std::memcmp(header + 10, "\6\0BC\2\0", 6) != 0)
    return false;
  sizes.compressed = little_endian(header + 16, 2) + 1;
  if (sizes.compressed < kHeaderBytes + kFooterBytes ||
      !read_fully(fd, footer, sizeof footer, at + sizes.compressed - kFooterBytes))
    return false;
  sizes.plain = little_endian(footer + 4, 4);
  return sizes.plain <= BGZF_MAX_BLOCK_SIZE;
}

}  // namespace

void BgzfBlocks::Close::operator()(BGZF* file) const {
  (void)!bgzf_close(file);
}

BgzfBlocks::BgzfBlocks(std::string path, std::string gzi_path, std::string function)
    : path_(std::move(path)), gzi_path_(std::move(gzi_path)), function_(std::move(function)) {
  file_.fd = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status {};
  if (file_.fd < 0 || ::fstat(file_.fd, &status) != 0)
    throw Error(function_, "cannot open " + path_ + ": " + std::strerror(errno));
  read_index(static_cast<uint64_t>(status.st_size));
  lengths_.assign(starts_.size(), -1);
  checked_to_.resize(starts_.size());
  std::iota(checked_to_.begin(), checked_to_.end(), size_t{0});
}

BgzfBlocks::File::~File() {
  if (fd >= 0) ::close(fd);
}

void BgzfBlocks::check_throughout(const std::string& path, const std::string& function) {
  File file;
  file.fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  uint64_t at = 0;
  for (BlockSizes sizes; read_sizes(file.fd, at, sizes);) at += sizes.compressed;
  unsigned char start[4];
  // Flag 4 says that there is an extra field, as every block of BGZF has one.
  if (at == 0 || !read_fully(file.fd, start, sizeof start, at) ||
      std::memcmp(start, "\x1f\x8b\x08", 3) != 0 || (start[3] & 4) != 0)
    return;
  throw Error(function,
              path + " is BGZF up to byte " + std::to_string(at) +
                  " and gzip from there on, as when files of both kinds are put together; only BGZF "
                  "can be indexed: compress it anew, e.g. with zcat and bgzip");
}

void BgzfBlocks::fail(const std::string& what) const {
  throw Error(function_, "the index " + gzi_path_ + " does not match " + path_ + ": " + what +
                             "; copy the FASTA again if it is cut or damaged, otherwise delete the index so "
                             "that it is built again");
}

void BgzfBlocks::read_index(uint64_t file_size) {
  std::ifstream in(gzi_path_, std::ios::binary);
  unsigned char numbers[16];
  const auto read = [&](int bytes) {
    return static_cast<bool>(in.read(reinterpret_cast<char*>(numbers), bytes));
  };
  if (!read(8)) fail("it is cut");
  starts_.push_back({0, 0});
  for (uint64_t left = little_endian(numbers, 8); left > 0; --left) {
    if (!read(16)) fail("it is cut");
    const Start start = {little_endian(numbers, 8), little_endian(numbers + 8, 8)};
    if (start.compressed <= starts_.back().compressed || start.plain < starts_.back().plain ||
        start.plain > kMostPlain)
      fail("its numbers do not ascend");
    if (start.compressed >= file_size) fail("it has blocks after the end of the file");
    starts_.push_back(start);
  }
  if (in.peek() != std::ifstream::traits_type::eof()) fail("it goes on after its last block");
}

size_t BgzfBlocks::block_of(uint64_t at) const {
  const auto after = std::upper_bound(starts_.begin(), starts_.end(), at,
                                      [](uint64_t place, const Start& start) { return place < start.plain; });
  return static_cast<size_t>(after - starts_.begin()) - 1;
}

void BgzfBlocks::check_place(uint64_t at) {
  const size_t block = block_of(at);
  if (lengths_[block] < 0) {
    if (!stream_) stream_.reset(bgzf_open(path_.c_str(), "r"));
    const bool read =
        stream_ &&
        bgzf_seek(stream_.get(), static_cast<int64_t>(starts_[block].compressed << 16), SEEK_SET) == 0 &&
        bgzf_read_block(stream_.get()) == 0;
    if (!read) {
      stream_.reset();
      fail("no whole block begins at byte " + std::to_string(starts_[block].compressed));
    }
    lengths_[block] = stream_->block_length;
  }
  if (at - starts_[block].plain > static_cast<uint64_t>(lengths_[block]))
    fail("the block at byte " + std::to_string(starts_[block].compressed) + " is shorter than it should be");
}

void BgzfBlocks::check_between(uint64_t begin, uint64_t end) {
  const size_t first = block_of(begin), last = block_of(end);
  size_t block = checked_to_[first];
  while (block < last) {
    if (checked_to_[block] > block) {
      block = checked_to_[block];
    } else {
      check_successor(block);
      ++block;
    }
  }
  checked_to_[first] = block;
}

/// Empty blocks, as they stand between files that were put together, need not be in the index.
void BgzfBlocks::check_successor(size_t block) const {
  const Start next = starts_[block + 1];
  Start at = starts_[block];
  while (at.compressed < next.compressed) {
    BlockSizes sizes;
    if (!read_sizes(file_.fd, at.compressed, sizes))
      fail("no whole block begins at byte " + std::to_string(at.compressed));
    at.compressed += sizes.compressed;
    at.plain += sizes.plain;
  }
  if (at.compressed != next.compressed || at.plain != next.plain)
    fail("no block begins at byte " + std::to_string(next.compressed) + ", or what it holds is elsewhere");
}

}  // namespace carbon
