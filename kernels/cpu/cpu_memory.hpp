// Memory for the CPU backend, aligned to 64 bytes so that a vector is never in two cache lines.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <memory>
#include <string>

#include "src/base/error.hpp"

namespace carbon::cpu {

struct FreeMemory {
  void operator()(void* p) const { std::free(p); }
};
using Memory = std::unique_ptr<void, FreeMemory>;

/// The size of huge pages. All weights are read for every token; with small pages the translation of
/// addresses would slow that down considerably.
inline constexpr size_t kHugePage = size_t{1} << 21;

/// Memory aligned to 64 bytes, with undefined contents. Uses huge pages for sizes of at least one such page,
/// if the system has them. Throws OutOfMemory(function, ...), which names the size.
inline Memory allocate_aligned(const char* function, size_t bytes) {
  const size_t alignment = bytes < kHugePage ? 64 : kHugePage;
  const size_t rounded = bytes > std::numeric_limits<size_t>::max() - 64 ? 0 : (bytes + 64) / 64 * 64;
  void* p = nullptr;
  if (rounded != 0 && posix_memalign(&p, alignment, rounded) != 0) p = nullptr;
  if (p != nullptr && bytes >= kHugePage) madvise(p, bytes / kHugePage * kHugePage, MADV_HUGEPAGE);
  if (p == nullptr)
    throw OutOfMemory(function,
                      "out of memory: could not allocate " + std::to_string(bytes) +
                          " bytes; use a smaller batch or model, or a machine with more memory",
                      {"a smaller {--batch-tokens} needs less memory"});
  return Memory(p);
}

/// Memory of weights. Matrices share large pieces, so that all of them lie in huge pages: one alone would
/// have its beginning there, and its last part, or a small matrix all of it, in small pages.
class WeightMemory {
 public:
  /// `bytes` of memory aligned to 64 bytes, with undefined contents. Its piece is freed when the last matrix
  /// in it is. Throws OutOfMemory(function, ...).
  std::shared_ptr<char> take(const char* function, size_t bytes) {
    if (bytes > left_) {
      const size_t size = std::max(next_size_, bytes);
      piece_.reset(static_cast<char*>(allocate_aligned(function, size).release()), FreeMemory());
      next_ = piece_.get();
      left_ = size;
      next_size_ = std::min(2 * next_size_, kLargest);
    }
    std::shared_ptr<char> taken(piece_, next_);
    const size_t used = std::min(left_, (bytes + 63) / 64 * 64);
    next_ += used;
    left_ -= used;
    return taken;
  }

 private:
  // What no matrix uses of the last piece is never touched, and so takes no memory.
  static constexpr size_t kLargest = size_t{1} << 26;

  std::shared_ptr<char> piece_;
  char* next_ = nullptr;
  size_t left_ = 0, next_size_ = 2 * kHugePage;
};

/// Memory that grows when a larger size is requested. Its contents are lost then.
class GrowingMemory {
 public:
  void* ensure(const char* function, size_t bytes) {
    if (bytes > bytes_) {
      memory_.reset();
      bytes_ = 0;
      memory_ = allocate_aligned(function, bytes);
      bytes_ = bytes;
    }
    return memory_.get();
  }

 private:
  Memory memory_;
  size_t bytes_ = 0;
};

/// a * b. Throws Error(function, ...) if that overflows.
inline size_t checked_product(const char* function, size_t a, size_t b) {
  size_t product;
  if (__builtin_mul_overflow(a, b, &product))
    throw Error(function, "a size overflows: " + std::to_string(a) + " x " + std::to_string(b));
  return product;
}

}  // namespace carbon::cpu
