// Tensors that the program made itself, as a file of tensors that a checkpoint can read, and the memory that
// holds such tensors.
//
// The memory is behind a file descriptor, so that a weight may give its pages back after it has copied them,
// as it does with the mapping of a file, and the digest may still read them afterwards.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "src/model/tensor_file.hpp"

namespace carbon {

/// Anonymous memory behind a file descriptor. It can be mapped several times, and its pages keep their
/// contents when a mapping gives them back (MADV_DONTNEED), as those of a file do.
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

struct TensorSpec {
  std::string name;
  std::string dtype;  // one of kWeightTypes
  std::vector<uint64_t> shape;
};

class TensorBuffer final : public TensorFile {
 public:
  /// Tensors of zeros. `name` is what messages call them. `source` is the stamp of the file from which they
  /// are computed; without one, a digest over them is never remembered. Throws Error for a dtype that the
  /// program cannot compute with, a size that overflows and a name that comes twice, and OutOfMemory.
  TensorBuffer(std::string name, const std::vector<TensorSpec>& tensors, FileStamp source = {});

  /// The bytes of a tensor, to be filled: aligned to 64 bytes. Throws Error if there is no such tensor, or
  /// after finish().
  std::span<uint8_t> writable(const std::string& name);
  /// Makes the memory read-only. The spans that writable() returned may no longer be written to.
  void finish();

 private:
  AddressSpace space_;
  SharedMemory memory_;
  bool finished_ = false;
};

}  // namespace carbon
