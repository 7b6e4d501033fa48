// Layouts as in the supplement of Kent et al., BigWig and BigBed, Bioinformatics 26, 2204 (2010). Like
// libBigWig, this writes numbers as they lie in the memory of a little-endian machine.
//
// A write that fails is not noticed here: the error stays on the stream, where the owner of the file finds
// it.

#include "src/formats/bigwig_index.hpp"

#include <zlib.h>

#include <algorithm>
#include <bit>
#include <new>

namespace carbon {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr uint32_t kIndexMagic = 0x2468ACE0;
constexpr uint32_t kChildren = 256;  // of a node of an index, at most
constexpr size_t kNodeHead = 4, kLeafItem = 32, kInnerItem = 24;
constexpr uint32_t kFirstLevel = 64, kLevelRatio = 4;
constexpr size_t kMostLevels = 10;
constexpr uint32_t kSummariesPerBlock = 512;
constexpr long kLevelCountOffset = 6, kLevelHeadersOffset = 64;

template <class T>
void append(std::vector<char>& bytes, T value) {
  const char* begin = reinterpret_cast<const char*>(&value);
  bytes.insert(bytes.end(), begin, begin + sizeof value);
}

template <class T>
void put(std::FILE* file, T value) {
  std::fwrite(&value, sizeof value, 1, file);
}

void append_bases(std::vector<char>& bytes, const BigwigBlock& block) {
  for (const uint32_t number : {block.first_contig, block.begin, block.last_contig, block.end})
    append(bytes, number);
}

// The bases of several blocks as those of one. Blocks of values do not overlap, so the last one ends last.
BigwigBlock span_of(std::span<const BigwigBlock> blocks) {
  BigwigBlock all = blocks.front();
  all.last_contig = blocks.back().last_contig;
  all.end = blocks.back().end;
  return all;
}

}  // namespace

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
  append(bytes, kIndexMagic);
  append(bytes, kChildren);
  append(bytes, static_cast<uint64_t>(blocks.size()));
  append_bases(bytes, all);
  append(bytes, static_cast<uint64_t>(std::ftell(file)));  // the end of what is indexed
  append(bytes, items_per_block);
  append(bytes, uint32_t{0});

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
      append(bytes, static_cast<uint8_t>(leaf));
      append(bytes, uint8_t{0});
      append(bytes, static_cast<uint16_t>(end - begin));
      for (size_t i = begin; i < end; ++i) {
        append_bases(bytes, items[i]);
        append(bytes, leaf ? items[i].offset : next + i * child_bytes);
        if (leaf) append(bytes, items[i].bytes);
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

void BigwigZooms::add(uint32_t contig, uint32_t begin, std::span<const float> values, std::FILE* file) {
  for (const float value : values) {
    const double wide = value;
    merge(0, {contig, begin, begin + 1, 1, value, value, wide, wide * wide}, file);
    ++begin;
  }
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
  for (const uint32_t count : {done.contig, done.begin, done.end, done.bases}) append(level.block, count);
  for (const float value :
       {done.least, done.greatest, static_cast<float>(done.sum), static_cast<float>(done.squares)})
    append(level.block, value);
  ++level.summaries;
  if (++level.in_block == kSummariesPerBlock) write_block(level, file);
  merge(number + 1, done, file);
}

void BigwigZooms::write_block(Level& level, std::FILE* file) {
  std::vector<Bytef> packed(compressBound(level.block.size()));
  uLongf size = packed.size();
  // There is room for the worst case, so only memory can be missing.
  if (compress(packed.data(), &size, reinterpret_cast<const Bytef*>(level.block.data()),
               level.block.size()) != Z_OK)
    throw std::bad_alloc();
  level.place.offset = static_cast<uint64_t>(std::ftell(file));
  level.place.bytes = size;
  std::fwrite(packed.data(), 1, size, file);
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
    append(headers, level.bases);
    append(headers, uint32_t{0});
    append(headers, static_cast<uint64_t>(std::ftell(file)));
    put(file, level.summaries);
    append(headers, static_cast<uint64_t>(std::ftell(file)));
    write_bigwig_index(file, level.blocks, kSummariesPerBlock);
  }
  const long end = std::ftell(file);
  std::fseek(file, kLevelHeadersOffset, SEEK_SET);
  std::fwrite(headers.data(), 1, headers.size(), file);
  std::fseek(file, kLevelCountOffset, SEEK_SET);
  put(file, static_cast<uint16_t>(levels_.size()));
  std::fseek(file, end, SEEK_SET);
}

}  // namespace carbon
