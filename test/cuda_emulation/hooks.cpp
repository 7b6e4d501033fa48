// What the compiler calls for every access to memory of code compiled with -fsanitize=thread,alignment,
// passed on to the emulation; ThreadSanitizer itself, which knows neither blocks nor their barriers, is not
// linked.
#ifdef CARBON_EMULATION_WATCHES
#include <cstddef>
#include <cstring>

#include "test/cuda_emulation/emulation.hpp"

using carbon::emulation::watch_read;
using carbon::emulation::watch_write;

#define CARBON_ACCESS(bytes)                             \
  void __tsan_read##bytes(const void* at) {              \
    watch_read(at, bytes, __builtin_return_address(0));  \
  }                                                      \
  void __tsan_write##bytes(const void* at) {             \
    watch_write(at, bytes, __builtin_return_address(0)); \
  }                                                      \
  void __tsan_unaligned_read##bytes(const void* at) {    \
    watch_read(at, bytes, __builtin_return_address(0));  \
  }                                                      \
  void __tsan_unaligned_write##bytes(const void* at) {   \
    watch_write(at, bytes, __builtin_return_address(0)); \
  }

extern "C" {

// NOLINTBEGIN(bugprone-reserved-identifier): the compiler's names.

CARBON_ACCESS(1)
CARBON_ACCESS(2)
CARBON_ACCESS(4)
CARBON_ACCESS(8)
CARBON_ACCESS(16)

void __tsan_read_range(const void* at, size_t bytes) {
  watch_read(at, bytes, __builtin_return_address(0));
}
void __tsan_write_range(const void* at, size_t bytes) {
  watch_write(at, bytes, __builtin_return_address(0));
}
void* __tsan_memcpy(void* to, const void* from, size_t bytes) {
  watch_read(from, bytes, __builtin_return_address(0));
  watch_write(to, bytes, __builtin_return_address(0));
  return std::memcpy(to, from, bytes);
}
void* __tsan_memset(void* to, int value, size_t bytes) {
  watch_write(to, bytes, __builtin_return_address(0));
  return std::memset(to, value, bytes);
}

// From -fsanitize=alignment.
void __ubsan_handle_type_mismatch_v1_abort(void*, void*) {
  carbon::emulation::fail("an access that is not aligned", __builtin_return_address(0));
}

// Of the host's code in the same files.
void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_read(void**) {}
void __tsan_vptr_update(void**, void*) {}
int __tsan_atomic32_fetch_add(volatile int* value, int added, int) {
  return __atomic_fetch_add(value, added, __ATOMIC_SEQ_CST);
}

// NOLINTEND(bugprone-reserved-identifier)

}  // extern "C"
#endif
