// Layouts as in the supplement of Kent et al., BigWig and BigBed, Bioinformatics 26, 2204 (2010).
//
// A write that fails is not noticed here: the error stays on the stream, where the owner of the file finds
// it.

#include "src/formats/bigwig_index.hpp"

#include <zlib.h>

#include <algorithm>
#include <new>
#include <numeric>

namespace carbon {
namespace {

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

}  // namespace

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

// A tree of names in the order of their bytes. One leaf holds them, or a root above several leaves.
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

}  // namespace carbon
