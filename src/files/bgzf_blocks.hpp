// The blocks of a BGZF file by its .gzi index, compared with the file where they are used. htslib believes
// every number in such an index: a wrong one gives other bytes, or ends the program by an assertion.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

struct BGZF;

namespace carbon {

/// For one thread at a time.
class BgzfBlocks {
 public:
  /// Reads the index `gzi_path` of `path`. Every Error of this class says what to do, and has `function` as
  /// its function. Throws Error if the file is not such an index, or the BGZF file cannot be opened.
  BgzfBlocks(std::string path, std::string gzi_path, std::string function);
  BgzfBlocks(const BgzfBlocks&) = delete;
  BgzfBlocks& operator=(const BgzfBlocks&) = delete;

  /// Throws Error unless the block that has byte `at` of the decompressed file, by the index, can be read and
  /// is long enough. So htslib can seek there.
  void check_place(uint64_t at);
  /// Throws Error unless the blocks from that of byte `begin` to that of byte `end` follow each other in the
  /// file, with the sizes that the index gives them. So if it is right at `begin`, it is at `end`. Each block
  /// is looked at once for one `begin`.
  void check_between(uint64_t begin, uint64_t end);
  /// Throws Error, in the name of `function`, if a file on this machine begins with blocks of BGZF and goes
  /// on as gzip: programs can read it, but no index can be right. Reads both ends of every block. Says
  /// nothing of other faults.
  static void check_throughout(const std::string& path, const std::string& function);

 private:
  /// Where a block begins: in the file, and in what it decompresses to.
  struct Start {
    uint64_t compressed = 0, plain = 0;
  };
  struct Close {
    void operator()(BGZF* file) const;
  };
  struct File {
    ~File();
    int fd = -1;
  };

  [[noreturn]] void fail(const std::string& what) const;
  void read_index(uint64_t file_size);
  size_t block_of(uint64_t at) const;
  void check_successor(size_t block) const;

  std::string path_, gzi_path_, function_;
  File file_;
  std::unique_ptr<BGZF, Close> stream_;
  std::vector<Start> starts_;       // in ascending order, the first at 0
  std::vector<int32_t> lengths_;    // decompressed bytes of each block that was read; -1 for the others
  std::vector<size_t> checked_to_;  // for each block, one up to which all have been seen to follow it
};

}  // namespace carbon
