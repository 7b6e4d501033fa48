// The emulated CUDA runtime: devices from the environment, memory with guards on both sides.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

namespace {

constexpr size_t kGuard = 256;  // bytes on either side; keeps the alignment that the real one has
constexpr unsigned char kGuardByte = 0xa5;

struct Memory {
  std::mutex mutex;
  std::map<void*, size_t> blocks;
  size_t in_use = 0;
};
Memory& device_memory() {
  static Memory one;
  return one;
}

size_t setting(const char* name, size_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

size_t memory_limit() {
  return setting("CARBON_EMULATED_MEMORY", size_t{1} << 36);
}

/// Bytes of shared memory that a block may have: 64 KiB at sm_75, 99 at sm_86 and sm_89, 163 at sm_80, 227 at
/// sm_90, 99 at sm_120.
int shared_limit() {
  const size_t sm = setting("CARBON_EMULATED_SM", 90);
  const int limit = sm < 80 ? 64 : sm == 80 ? 163 : sm < 90 ? 99 : sm < 120 ? 227 : 99;
  return limit * 1024;
}

[[noreturn]] void fail(const char* what) {
  std::fprintf(stderr, "emulated GPU memory: %s\n", what);
  std::abort();
}

bool lies_in_a_block(const void* memory, size_t bytes) {
  Memory& m = device_memory();
  const std::lock_guard lock(m.mutex);
  auto at = m.blocks.upper_bound(const_cast<void*>(memory));
  if (at == m.blocks.begin()) return false;
  --at;
  return static_cast<const char*>(memory) + bytes <= static_cast<const char*>(at->first) + at->second;
}

}  // namespace

const char* cudaGetErrorString(cudaError_t error) {
  return error == cudaErrorMemoryAllocation ? "out of memory" : "an error";
}
const char* cudaGetErrorName(cudaError_t error) {
  return error == cudaErrorMemoryAllocation ? "cudaErrorMemoryAllocation" : "cudaErrorEmulated";
}
cudaError_t cudaGetLastError() {
  return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = 13000;
  return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int* count) {
  *count = 0;
  if (setting("CARBON_EMULATED_DRIVER", 1) == 0) return cudaErrorInsufficientDriver;
  *count = static_cast<int>(setting("CARBON_EMULATED_GPUS", 1));
  return *count == 0 ? cudaErrorNoDevice : cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  if (cudaSetDevice(device) != cudaSuccess) return cudaErrorInvalidDevice;
  const auto sm = static_cast<int>(setting("CARBON_EMULATED_SM", 90));
  std::snprintf(properties->name, sizeof properties->name, "emulated GPU");
  properties->totalGlobalMem = memory_limit();
  properties->major = sm / 10;
  properties->minor = sm % 10;
  properties->multiProcessorCount = 2;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr, int device) {
  if (cudaSetDevice(device) != cudaSuccess) return cudaErrorInvalidDevice;
  *value = shared_limit();
  return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) {
  int count = 0;
  cudaGetDeviceCount(&count);
  return device >= 0 && device < count ? cudaSuccess : cudaErrorInvalidDevice;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  *stream = nullptr;
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t) {
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t) {
  return cudaSuccess;
}

cudaError_t cudaMalloc(void** memory, size_t bytes) {
  Memory& m = device_memory();
  const std::lock_guard lock(m.mutex);
  if (bytes > memory_limit() - m.in_use) return cudaErrorMemoryAllocation;
  const size_t rounded = (bytes + kGuard - 1) / kGuard * kGuard;
  auto* const block = static_cast<unsigned char*>(std::aligned_alloc(kGuard, rounded + 2 * kGuard));
  if (block == nullptr) return cudaErrorMemoryAllocation;
  std::memset(block, kGuardByte, kGuard);
  std::memset(block + kGuard, 0xff, bytes);
  std::memset(block + kGuard + bytes, kGuardByte, rounded - bytes + kGuard);
  *memory = block + kGuard;
  m.blocks[*memory] = bytes;
  m.in_use += bytes;
  return cudaSuccess;
}

cudaError_t cudaFree(void* memory) {
  Memory& m = device_memory();
  const std::lock_guard lock(m.mutex);
  const auto at = m.blocks.find(memory);
  if (at == m.blocks.end()) fail("freed what was not allocated");
  const auto* const block = static_cast<unsigned char*>(memory) - kGuard;
  const size_t bytes = at->second, rounded = (bytes + kGuard - 1) / kGuard * kGuard;
  for (size_t i = 0; i < rounded + 2 * kGuard; ++i)
    if ((i < kGuard || i >= kGuard + bytes) && block[i] != kGuardByte) fail("written outside a block");
  m.in_use -= bytes;
  m.blocks.erase(at);
  std::free(const_cast<unsigned char*>(block));
  return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  Memory& m = device_memory();
  const std::lock_guard lock(m.mutex);
  *total = memory_limit();
  *free = *total - m.in_use;
  return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, cudaStream_t) {
  if (kind != cudaMemcpyDeviceToHost && !lies_in_a_block(to, bytes)) fail("copied to outside a block");
  if (kind != cudaMemcpyHostToDevice && !lies_in_a_block(from, bytes)) fail("copied from outside a block");
  std::memcpy(to, from, bytes);
  return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void* memory, int value, size_t bytes, cudaStream_t) {
  if (!lies_in_a_block(memory, bytes)) fail("cleared outside a block");
  std::memset(memory, value, bytes);
  return cudaSuccess;
}

cudaError_t cudaFuncSetAttribute(const void*, cudaFuncAttribute, int value) {
  return value <= shared_limit() ? cudaSuccess : cudaErrorInvalidValue;
}
