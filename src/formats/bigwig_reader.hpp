// Reads bigWig files of any writer: blocks of bedGraph, of variable and of fixed steps, compressed or not.
// libBigWig would do it too, but it believes what a file says of its sizes.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace carbon {

/// Every size, number and offset of the file is checked before it is used, so that a damaged or hostile file
/// ends in an Error.
class BigwigReader {
 public:
  /// Throws Error, which names the file, if it is no bigWig of a little-endian machine, or its header or its
  /// contigs cannot be right. `function` is the caller in messages.
  BigwigReader(const std::string& path, std::string function);
  ~BigwigReader();
  BigwigReader(const BigwigReader&) = delete;
  BigwigReader& operator=(const BigwigReader&) = delete;

  /// The length of a contig, or -1 if the file has none of that name.
  int64_t length(const std::string& contig) const;
  /// Calls `take` for the values of a contig in ascending order: `value` is that of the bases from `begin`
  /// (0-based) to `end`. Throws Error for values that overlap, that are not in order or that lie outside the
  /// contig, and for damaged blocks.
  void read(const std::string& contig,
            const std::function<void(int64_t begin, int64_t end, float value)>& take) const;

 private:
  struct Contig {
    uint32_t number = 0, length = 0;
  };
  struct Run;

  [[noreturn]] void fail(const std::string& what) const;
  std::string bytes(uint64_t offset, uint64_t count, const char* what) const;
  void read_contigs(uint64_t offset);
  void read_node(Run& run, uint64_t offset, int depth) const;
  void read_block(Run& run, uint64_t offset, uint64_t size) const;
  std::string_view unpacked(Run& run, std::string_view packed) const;

  std::string path_, function_;
  int fd_ = -1;
  uint64_t size_ = 0, index_ = 0;
  uint32_t block_bytes_ = 0;  // of the largest block when it is not compressed; 0: blocks are not compressed
  std::map<std::string, Contig> contigs_;
};

}  // namespace carbon
