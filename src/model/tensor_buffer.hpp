// Tensors that the program made itself, as a file of tensors that a checkpoint can read.
//
// The memory is behind a file descriptor, so that a weight may give its pages back after it has copied them,
// as it does with the mapping of a file, and the digest may still read them afterwards.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "src/model/shared_memory.hpp"
#include "src/model/tensor_file.hpp"

namespace carbon {

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
