// The tables of a bigWig: its contigs, its zoom levels, which are summaries of ever more bases, and the index
// of blocks that the values and each zoom level have.
#pragma once

#include <bit>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace carbon {

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

/// Compresses a block and writes it at the position of the file; `place` gets its offset and bytes.
void write_bigwig_block(std::FILE* file, std::span<const char> block, BigwigBlock& place);

/// Writes the names and lengths of contigs. Their numbers are their places in the list.
void write_bigwig_contigs(std::FILE* file, std::span<const std::pair<std::string, uint32_t>> contigs);

/// Writes an index of blocks, which are in the order of their bases, at the position of the file.
void write_bigwig_index(std::FILE* file, std::span<const BigwigBlock> blocks, uint32_t items_per_block);

/// Summaries of 64, 256, 1024, ... bases, as many levels as the longest contig needs. A finished block of
/// them goes to the file between the blocks of values, so that memory does not grow with the genome but for
/// the index.
class BigwigZooms {
 public:
  explicit BigwigZooms(int64_t longest_contig);

  size_t levels() const { return levels_.size(); }
  /// Takes the values of consecutive bases. Runs come in the order of the contigs and do not overlap.
  void add(uint32_t contig, uint32_t begin, std::span<const float> values, std::FILE* file);
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

}  // namespace carbon
