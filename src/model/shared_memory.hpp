// Anonymous memory behind a file descriptor. It can be mapped several times, and its pages keep their
// contents when a mapping gives them back (MADV_DONTNEED), as those of a file do.
#pragma once

#include <cstdint>
#include <string>

namespace carbon {

class SharedMemory {
 public:
  /// Memory of `bytes` zeros, which is allocated now: a lack of it at a later access would be a signal
  /// instead of an Error. `purpose` says in messages what the memory is for, e.g. "random weights".
  SharedMemory(std::string purpose, uint64_t bytes);
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  /// Maps bytes from offset `from` on over address space that the caller has reserved at `to`. `protection`
  /// is that of mmap. The mapping outlives this object.
  void map(uint8_t* to, uint64_t bytes, uint64_t from, int protection) const;

 private:
  [[noreturn]] void fail(const std::string& what) const;

  std::string purpose_;
  int fd_;
};

/// Address space in which nothing is mapped yet. It is unmapped with all that was mapped into it.
class AddressSpace {
 public:
  AddressSpace(const std::string& purpose, uint64_t bytes);
  ~AddressSpace();
  AddressSpace(const AddressSpace&) = delete;
  AddressSpace& operator=(const AddressSpace&) = delete;

  uint8_t* data() const { return data_; }
  uint64_t size() const { return size_; }

 private:
  uint8_t* data_;
  uint64_t size_;
};

}  // namespace carbon
