// Layouts as in the supplement of Kent et al., BigWig and BigBed, Bioinformatics 26, 2204 (2010).
//
// A write that fails is not noticed here: the error stays on the stream, where the owner of the file finds
// it.

#include "src/formats/bigwig_writer.hpp"

#include <zlib.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <limits>
#include <new>
#include <numeric>

#include "src/base/error.hpp"
#include "src/files/output.hpp"

namespace carbon {
namespace {

// The tables of a bigWig: its contigs, its zoom levels, which are summaries of ever more bases, and the index
// of blocks that the values and each zoom level have.

/// Adds numbers, each in the layout of its type. Numbers of the file lie as in the memory of a little-endian
/// machine.
template <class... T>
void append_numbers(std::vector<char>& bytes, T... values) {
  static_assert(std::endian::native == std::endian::little);
  const auto append = [&bytes](const auto& value) {
    const char* begin = reinterpret_cast<const char*>(&value);
    bytes.insert(bytes.end(), begin, begin + sizeof value);
  };
  (append(values), ...);
}

/// Where a block of a bigWig lies, and which bases it speaks of: from `begin` on the first contig to `end` on
/// the last one. Contigs are numbers in the order of the file's header.
struct BigwigBlock {
  uint32_t first_contig = 0, begin = 0, last_contig = 0, end = 0;
  uint64_t offset = 0, bytes = 0;
};

/// Summaries of 64, 256, 1024, ... bases, as many levels as the longest contig needs. A finished block of
/// them goes to the file between the blocks of values, so that memory does not grow with the genome but for
/// the index.
class BigwigZooms {
 public:
  explicit BigwigZooms(int64_t longest_contig);

  size_t levels() const { return levels_.size(); }
  /// Takes the value of a base. Bases come in the order of the contigs and ascend.
  void add(uint32_t contig, uint32_t position, float value, std::FILE* file);
  /// Writes what is left, the indexes and the headers of the levels. The file must end with its values'
  /// index.
  void finish(std::FILE* file);

 private:
  struct Summary {
    uint32_t contig = 0, begin = 0, end = 0, bases = 0;
    float least = 0, greatest = 0;
    double sum = 0, squares = 0;
  };
  struct Level {
    uint32_t bases = 0;       // that one summary speaks of, at most
    Summary current;          // its bases are 0 before the first value
    std::vector<char> block;  // of finished summaries, in the layout of the file
    BigwigBlock place;        // of this block
    uint32_t in_block = 0;    // summaries
    uint32_t summaries = 0;   // in all blocks
    std::vector<BigwigBlock> blocks;
  };

  void merge(size_t level, const Summary& part, std::FILE* file);
  void close_summary(size_t level, std::FILE* file);
  void write_block(Level& level, std::FILE* file);

  std::vector<Level> levels_;
};

constexpr uint32_t kContigsMagic = 0x78CA8C91, kIndexMagic = 0x2468ACE0;
constexpr size_t kMostContigs = 0x7FFF;  // of a node: readers in Java have 16 bits with a sign
constexpr uint32_t kChildren = 256;      // of a node of an index, at most
constexpr size_t kNodeHead = 4, kLeafItem = 32, kInnerItem = 24;
constexpr uint32_t kContigBytes = 8;  // beside a name: a number and a length, or where a leaf lies
constexpr uint32_t kFirstLevel = 64, kLevelRatio = 4;
constexpr size_t kMostLevels = 10;
constexpr uint32_t kSummariesPerBlock = 512;
constexpr long kLevelHeadersOffset = 64;

template <class T>
void put(std::FILE* file, T value) {
  std::fwrite(&value, sizeof value, 1, file);
}

void append_bases(std::vector<char>& bytes, const BigwigBlock& block) {
  append_numbers(bytes, block.first_contig, block.begin, block.last_contig, block.end);
}

// The bases of several blocks as those of one. Blocks of values do not overlap, so the last one ends last.
BigwigBlock span_of(std::span<const BigwigBlock> blocks) {
  BigwigBlock all = blocks.front();
  all.last_contig = blocks.back().last_contig;
  all.end = blocks.back().end;
  return all;
}

/// Compresses a block and writes it at the position of the file; `place` gets its offset and bytes.
void write_bigwig_block(std::FILE* file, std::span<const char> block, BigwigBlock& place) {
  std::vector<Bytef> packed(compressBound(block.size()));
  uLongf size = packed.size();
  // There is room for the worst case, so only memory can be missing.
  if (compress(packed.data(), &size, reinterpret_cast<const Bytef*>(block.data()), block.size()) != Z_OK)
    throw std::bad_alloc();
  place.offset = static_cast<uint64_t>(std::ftell(file));
  place.bytes = size;
  std::fwrite(packed.data(), 1, size, file);
}

/// Writes the names and lengths of contigs. Their numbers are their places in the list. They are a tree of
/// names in the order of their bytes: one leaf holds them, or a root above several leaves.
void write_bigwig_contigs(std::FILE* file, std::span<const std::pair<std::string, uint32_t>> contigs) {
  std::vector<uint32_t> order(contigs.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](uint32_t a, uint32_t b) { return contigs[a].first < contigs[b].first; });
  size_t name_bytes = 1;
  for (const auto& [name, length] : contigs) name_bytes = std::max(name_bytes, name.size());

  std::vector<char> bytes;
  append_numbers(bytes, kContigsMagic, static_cast<uint32_t>(std::min(order.size(), kMostContigs)),
                 static_cast<uint32_t>(name_bytes), kContigBytes, static_cast<uint64_t>(order.size()),
                 uint64_t{0});
  const auto append_node = [&](bool leaf, size_t items) {
    append_numbers(bytes, static_cast<uint8_t>(leaf), uint8_t{0}, static_cast<uint16_t>(items));
  };
  const auto append_name = [&](uint32_t contig) {
    const std::string& name = contigs[contig].first;
    bytes.insert(bytes.end(), name.begin(), name.end());
    bytes.resize(bytes.size() + name_bytes - name.size());
  };
  const size_t item_bytes = name_bytes + kContigBytes;
  const size_t leaves = (order.size() + kMostContigs - 1) / kMostContigs;
  if (leaves > 1) {
    append_node(false, leaves);
    uint64_t leaf_at = static_cast<uint64_t>(std::ftell(file)) + bytes.size() + leaves * item_bytes;
    for (size_t leaf = 0; leaf < leaves; ++leaf) {
      append_name(order[leaf * kMostContigs]);
      append_numbers(bytes, leaf_at);
      leaf_at += kNodeHead + kMostContigs * item_bytes;
    }
  }
  for (size_t begin = 0; begin == 0 || begin < order.size(); begin += kMostContigs) {
    const size_t end = std::min(begin + kMostContigs, order.size());
    append_node(true, end - begin);
    for (size_t i = begin; i < end; ++i) {
      append_name(order[i]);
      append_numbers(bytes, order[i], contigs[order[i]].second);
    }
  }
  std::fwrite(bytes.data(), 1, bytes.size(), file);
}

/// Writes an index of blocks, which are in the order of their bases, at the position of the file.
void write_bigwig_index(std::FILE* file, std::span<const BigwigBlock> blocks, uint32_t items_per_block) {
  // What the nodes of each height hold: the blocks, and above them an item for each node of the height below.
  std::vector<std::vector<BigwigBlock>> heights{{blocks.begin(), blocks.end()}};
  while (heights.back().size() > kChildren) {
    std::vector<BigwigBlock> parents;
    const std::span<const BigwigBlock> below = heights.back();
    for (size_t i = 0; i < below.size(); i += kChildren)
      parents.push_back(span_of(below.subspan(i, std::min<size_t>(kChildren, below.size() - i))));
    heights.push_back(std::move(parents));
  }

  const BigwigBlock all = blocks.empty() ? BigwigBlock{} : span_of(blocks);
  std::vector<char> bytes;
  append_numbers(bytes, kIndexMagic, kChildren, static_cast<uint64_t>(blocks.size()));
  append_bases(bytes, all);
  const uint64_t end_of_blocks = static_cast<uint64_t>(std::ftell(file));
  append_numbers(bytes, end_of_blocks, items_per_block, uint32_t{0});

  // The root comes first, then the nodes of each height below it. All nodes of a height but the last are
  // full.
  uint64_t next = static_cast<uint64_t>(std::ftell(file)) + bytes.size();
  for (size_t height = heights.size(); height-- > 0;) {
    const std::span<const BigwigBlock> items = heights[height];
    const bool leaf = height == 0;
    const size_t item_bytes = leaf ? kLeafItem : kInnerItem;
    const size_t nodes = std::max<size_t>(1, (items.size() + kChildren - 1) / kChildren);
    next += nodes * kNodeHead + items.size() * item_bytes;
    const size_t child_bytes = kNodeHead + kChildren * (height == 1 ? kLeafItem : kInnerItem);
    for (size_t node = 0; node < nodes; ++node) {
      const size_t begin = node * kChildren, end = std::min<size_t>(begin + kChildren, items.size());
      append_numbers(bytes, static_cast<uint8_t>(leaf), uint8_t{0}, static_cast<uint16_t>(end - begin));
      for (size_t i = begin; i < end; ++i) {
        append_bases(bytes, items[i]);
        append_numbers(bytes, leaf ? items[i].offset : next + i * child_bytes);
        if (leaf) append_numbers(bytes, items[i].bytes);
      }
    }
  }
  std::fwrite(bytes.data(), 1, bytes.size(), file);
}

BigwigZooms::BigwigZooms(int64_t longest_contig) {
  // Some browsers expect one level at least.
  for (uint64_t bases = kFirstLevel;
       levels_.empty() || (levels_.size() < kMostLevels && static_cast<int64_t>(bases) < longest_contig);
       bases *= kLevelRatio)
    levels_.emplace_back().bases = static_cast<uint32_t>(bases);
}

void BigwigZooms::add(uint32_t contig, uint32_t position, float value, std::FILE* file) {
  const double wide = value;
  merge(0, {contig, position, position + 1, 1, value, value, wide, wide * wide}, file);
}

// The summaries of a level divide those of the next one, so a value is looked at once, on the first level.
void BigwigZooms::merge(size_t number, const Summary& part, std::FILE* file) {
  if (number == levels_.size()) return;
  Level& level = levels_[number];
  Summary& whole = level.current;
  if (whole.bases > 0 &&
      (whole.contig != part.contig || whole.begin / level.bases != part.begin / level.bases))
    close_summary(number, file);
  if (whole.bases == 0) {
    whole = part;
    return;
  }
  whole.end = part.end;
  whole.bases += part.bases;
  whole.least = std::min(whole.least, part.least);
  whole.greatest = std::max(whole.greatest, part.greatest);
  whole.sum += part.sum;
  whole.squares += part.squares;
}

void BigwigZooms::close_summary(size_t number, std::FILE* file) {
  Level& level = levels_[number];
  const Summary done = level.current;
  level.current = {};
  if (level.in_block == 0) {
    level.place.first_contig = done.contig;
    level.place.begin = done.begin;
  }
  level.place.last_contig = done.contig;
  level.place.end = done.end;
  append_numbers(level.block, done.contig, done.begin, done.end, done.bases);
  append_numbers(level.block, done.least, done.greatest, static_cast<float>(done.sum),
                 static_cast<float>(done.squares));
  ++level.summaries;
  if (++level.in_block == kSummariesPerBlock) write_block(level, file);
  merge(number + 1, done, file);
}

void BigwigZooms::write_block(Level& level, std::FILE* file) {
  write_bigwig_block(file, level.block, level.place);
  level.blocks.push_back(level.place);
  level.block.clear();
  level.in_block = 0;
}

void BigwigZooms::finish(std::FILE* file) {
  // A summary that is closed becomes part of the next level's, which is closed after it.
  for (size_t i = 0; i < levels_.size(); ++i)
    if (levels_[i].current.bases > 0) close_summary(i, file);
  std::vector<char> headers;
  for (Level& level : levels_) {
    if (level.in_block > 0) write_block(level, file);
    append_numbers(headers, level.bases, uint32_t{0}, static_cast<uint64_t>(std::ftell(file)));
    put(file, level.summaries);
    append_numbers(headers, static_cast<uint64_t>(std::ftell(file)));
    write_bigwig_index(file, level.blocks, kSummariesPerBlock);
  }
  const long end = std::ftell(file);
  std::fseek(file, kLevelHeadersOffset, SEEK_SET);
  std::fwrite(headers.data(), 1, headers.size(), file);
  std::fseek(file, end, SEEK_SET);
}

// The file.

constexpr uint32_t kMagic = 0x888FFC26;
constexpr uint16_t kVersion = 4;
constexpr size_t kHeaderBytes = 64, kLevelBytes = 24, kSummaryBytes = 40;
constexpr size_t kBlockHeadBytes = 24;
constexpr uint32_t kBufferBytes = kBlockHeadBytes + BigwigWriter::kMostValues * sizeof(float);
constexpr uint8_t kFixedStep = 3;     // values of consecutive bases: only the first base is written
constexpr uint8_t kVariableStep = 2;  // each value comes after its base

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
  void write_block(const BigwigBlock& place, std::span<const char> block) {
    errno = 0;
    write_bigwig_block(file.get(), block, blocks.emplace_back(place));
  }
  // The value of a base as part of all summaries.
  void add(uint32_t contig, uint32_t position, float value) {
    const double wide = value;
    all.least = std::min(all.least, wide);
    all.greatest = std::max(all.greatest, wide);
    all.sum += wide;
    all.squares += wide * wide;
    ++all.bases;
    zooms.add(contig, position, value, file.get());
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
  impl_->write_block({number, first, number, end}, block);
  for (size_t i = 0; i < values.size(); ++i) impl_->add(number, first + static_cast<uint32_t>(i), values[i]);
  impl_->check();
}

void BigwigWriter::write(size_t contig, std::span<const int64_t> positions, std::span<const float> values) {
  if (values.empty()) return;
  const uint32_t number = static_cast<uint32_t>(contig), first = static_cast<uint32_t>(positions.front());
  const uint32_t end = static_cast<uint32_t>(positions.back() + 1);
  std::vector<char> block;
  append_numbers(block, number, first, end, uint32_t{0}, uint32_t{1}, kVariableStep, uint8_t{0},
                 static_cast<uint16_t>(values.size()));
  for (size_t i = 0; i < values.size(); ++i)
    append_numbers(block, static_cast<uint32_t>(positions[i]), values[i]);
  impl_->write_block({number, first, number, end}, block);
  for (size_t i = 0; i < values.size(); ++i)
    impl_->add(number, static_cast<uint32_t>(positions[i]), values[i]);
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
