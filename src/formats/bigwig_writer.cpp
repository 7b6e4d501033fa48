#include "src/formats/bigwig_writer.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <limits>

#include "src/base/error.hpp"
#include "src/files/output.hpp"
#include "src/formats/bigwig_index.hpp"

namespace carbon {
namespace {

constexpr uint32_t kMagic = 0x888FFC26;
constexpr uint16_t kVersion = 4;
constexpr size_t kHeaderBytes = 64, kLevelBytes = 24, kSummaryBytes = 40;
constexpr size_t kBlockHeadBytes = 24;
constexpr uint32_t kBufferBytes = kBlockHeadBytes + BigwigWriter::kMostValues * sizeof(float);
constexpr uint8_t kFixedStep = 3;  // values of consecutive bases: only the first base is written

using Contigs = std::vector<std::pair<std::string, int64_t>>;

std::vector<std::pair<std::string, uint32_t>> checked(const Contigs& contigs) {
  std::vector<std::pair<std::string, uint32_t>> short_enough;
  for (const auto& [name, length] : contigs) {
    if (length > std::numeric_limits<uint32_t>::max())
      throw Error("write_bigwig", "contig " + name + " has " + std::to_string(length) +
                                      " bases, and a bigWig holds contigs of up to 4294967295");
    short_enough.emplace_back(name, static_cast<uint32_t>(length));
  }
  return short_enough;
}

int64_t longest(const Contigs& contigs) {
  int64_t most = 0;
  for (const auto& [name, length] : contigs) most = std::max(most, length);
  return most;
}

/// What the header says of all values.
struct Summary {
  uint64_t bases = 0;
  double least = std::numeric_limits<double>::infinity(), greatest = -least, sum = 0, squares = 0;
};

}  // namespace

// The file is: the header, room for the headers of the zoom levels, the summary, the contigs, the number of
// blocks, blocks of values with those of zoom levels between them, the index of values, and the indexes of
// zoom levels.
struct BigwigWriter::Impl {
  Impl(const std::string& path, const Contigs& contigs)
      : target(path), zooms(longest(contigs)), summary_at(kHeaderBytes + zooms.levels() * kLevelBytes) {
    if (target.direct())
      throw Error("write_bigwig", path + " is not a regular file, which a bigWig needs to be");
    const auto lengths = checked(contigs);
    errno = 0;
    file.reset(std::fopen(target.writable().c_str(), "wb"));
    if (!file) fail();
    put(std::vector<char>(summary_at + kSummaryBytes));
    write_bigwig_contigs(file.get(), lengths);
    blocks_at = position();
    put(std::vector<char>(sizeof(uint64_t)));
    check();
  }

  uint64_t position() const { return static_cast<uint64_t>(std::ftell(file.get())); }
  void put(const std::vector<char>& bytes) const { std::fwrite(bytes.data(), 1, bytes.size(), file.get()); }
  [[noreturn]] void fail() const {
    throw Error("write_bigwig",
                "cannot write " + target.shown() + (errno ? std::string(": ") + std::strerror(errno) : ""));
  }
  // Writes are not checked one by one, because the stream remembers that one failed.
  void check() const {
    if (std::ferror(file.get())) fail();
  }

  struct Close {
    void operator()(std::FILE* stream) const { std::fclose(stream); }
  };
  OutputPath target;
  BigwigZooms zooms;
  uint64_t summary_at, blocks_at = 0;
  std::unique_ptr<std::FILE, Close> file;
  std::vector<BigwigBlock> blocks;
  Summary all;
};

BigwigWriter::BigwigWriter(const std::string& path, const Contigs& contigs)
    : impl_(std::make_unique<Impl>(path, contigs)) {}
BigwigWriter::~BigwigWriter() = default;

void BigwigWriter::write(size_t contig, int64_t begin, std::span<const float> values) {
  if (values.empty()) return;
  const uint32_t number = static_cast<uint32_t>(contig), first = static_cast<uint32_t>(begin);
  const uint32_t end = first + static_cast<uint32_t>(values.size());
  std::vector<char> block;
  append_numbers(block, number, first, end, uint32_t{1}, uint32_t{1}, kFixedStep, uint8_t{0},
                 static_cast<uint16_t>(values.size()));
  const char* bytes = reinterpret_cast<const char*>(values.data());
  block.insert(block.end(), bytes, bytes + values.size_bytes());
  for (const float value : values) {
    const double wide = value;
    impl_->all.least = std::min(impl_->all.least, wide);
    impl_->all.greatest = std::max(impl_->all.greatest, wide);
    impl_->all.sum += wide;
    impl_->all.squares += wide * wide;
  }
  impl_->all.bases += values.size();
  errno = 0;
  write_bigwig_block(impl_->file.get(), block,
                     impl_->blocks.emplace_back(BigwigBlock{number, first, number, end}));
  impl_->zooms.add(number, first, values, impl_->file.get());
  impl_->check();
}

void BigwigWriter::finish() {
  std::FILE* file = impl_->file.get();
  const Summary& all = impl_->all;
  errno = 0;
  const uint64_t index_at = impl_->position();
  write_bigwig_index(file, impl_->blocks, kMostValues);
  impl_->zooms.finish(file);

  std::vector<char> bytes;
  append_numbers(bytes, kMagic);
  impl_->put(bytes);

  bytes.clear();
  const bool empty = all.bases == 0;
  append_numbers(bytes, all.bases, empty ? 0 : all.least, empty ? 0 : all.greatest, all.sum, all.squares);
  std::fseek(file, static_cast<long>(impl_->summary_at), SEEK_SET);
  impl_->put(bytes);

  bytes.clear();
  append_numbers(bytes, static_cast<uint64_t>(impl_->blocks.size()));
  std::fseek(file, static_cast<long>(impl_->blocks_at), SEEK_SET);
  impl_->put(bytes);

  bytes.clear();
  const uint64_t contigs_at = impl_->summary_at + kSummaryBytes;
  // Of the fields that stay 0, the first three are those of a bigBed, and the last says where extensions are.
  append_numbers(bytes, kMagic, kVersion, static_cast<uint16_t>(impl_->zooms.levels()), contigs_at,
                 impl_->blocks_at, index_at, uint16_t{0}, uint16_t{0}, uint64_t{0}, impl_->summary_at,
                 kBufferBytes, uint64_t{0});
  std::fseek(file, 0, SEEK_SET);
  impl_->put(bytes);
  impl_->check();
  // Network file systems report some errors only when a file is closed.
  if (std::fclose(impl_->file.release()) != 0) impl_->fail();
}

void BigwigWriter::commit() {
  impl_->target.commit();
}

}  // namespace carbon
