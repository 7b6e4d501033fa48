// The emulated CUDA runtime: devices from the environment, memory with guards on both sides.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

namespace {

constexpr size_t kGuard = 256;  // bytes on either side; keeps the alignment that the real one has
constexpr unsigned char kGuardByte = 0xa5;

thread_local int current_device = 0;
thread_local bool capturing = false;

struct Block {
  size_t bytes;
  int device;
};
struct Copy {
  void* to;
  const void* from;
  size_t bytes;
};
struct Memory {
  std::mutex mutex;
  std::map<void*, Block> blocks;
  std::map<int, size_t> in_use;             // by device
  std::map<int, std::vector<Copy>> copies;  // from the host, by device, that are still to be done
  std::map<const void*, size_t> locked;     // page-locked memory and its size
};
Memory& device_memory() {
  static Memory one;
  return one;
}

size_t memory_limit(int device) {
  return emulated_setting("CARBON_EMULATED_MEMORY", device, size_t{1} << 36);
}

/// Of those that are said to be free, as many that cannot be had.
size_t memory_denied(int device) {
  return emulated_setting("CARBON_EMULATED_DENIED", device, 0);
}

bool is_there(int device) {
  int count = 0;
  cudaGetDeviceCount(&count);
  return device >= 0 && device < count;
}

/// Bytes of shared memory that a block may have: 64 KiB at sm_75, 99 at sm_86 and sm_89, 163 at sm_80, 227 at
/// sm_90, 99 at sm_120.
int shared_limit(int device) {
  const size_t sm = emulated_setting("CARBON_EMULATED_SM", device, 90);
  const int limit = sm < 80 ? 64 : sm == 80 ? 163 : sm < 90 ? 99 : sm < 120 ? 227 : 99;
  return limit * 1024;
}

[[noreturn]] void fail(const char* what) {
  std::fprintf(stderr, "emulated GPU memory: %s\n", what);
  std::abort();
}

void refuse_capture(const char* what) {
  if (!capturing) return;
  std::fprintf(stderr, "emulated GPU: a stream is %s while it is captured\n", what);
  std::abort();
}

bool lies_in_a_block(const void* memory, size_t bytes, int device) {
  Memory& m = device_memory();
  const std::lock_guard lock(m.mutex);
  auto at = m.blocks.upper_bound(const_cast<void*>(memory));
  if (at == m.blocks.begin()) return false;
  --at;
  return at->second.device == device &&
         static_cast<const char*>(memory) + bytes <= static_cast<const char*>(at->first) + at->second.bytes;
}

bool is_locked(const void* memory, size_t bytes) {
  Memory& m = device_memory();
  const std::lock_guard lock(m.mutex);
  auto at = m.locked.upper_bound(memory);
  if (at == m.locked.begin()) return false;
  --at;
  return static_cast<const char*>(memory) + bytes <= static_cast<const char*>(at->first) + at->second;
}

}  // namespace

namespace {

/// The device's value in a list from the environment, and what follows it; null if there is no list.
const char* emulated_value(const char* name, int device) {
  const char* text = std::getenv(name);
  if (text == nullptr) return nullptr;
  for (const char* comma; device > 0 && (comma = std::strchr(text, ',')) != nullptr; --device)
    text = comma + 1;
  return text;
}

}  // namespace

size_t emulated_setting(const char* name, int device, size_t otherwise) {
  const char* const text = emulated_value(name, device);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

bool emulated_kernels_run() {
  static const bool run = emulated_setting("CARBON_EMULATED_KERNELS", 0, 1) != 0;
  return run;
}

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
  *version = CUDART_VERSION;
  return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int* version) {
  *version = static_cast<int>(emulated_setting("CARBON_EMULATED_DRIVER", 0, CUDART_VERSION));
  return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int* count) {
  *count = 0;
  int driver = 0;
  cudaDriverGetVersion(&driver);
  if (driver / 1000 < CUDART_VERSION / 1000) return cudaErrorInsufficientDriver;  // within a number all work
  *count = static_cast<int>(emulated_setting("CARBON_EMULATED_GPUS", 0, 1));
  return *count == 0 ? cudaErrorNoDevice : cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  if (!is_there(device)) return cudaErrorInvalidDevice;
  const auto sm = static_cast<int>(emulated_setting("CARBON_EMULATED_SM", device, 90));
  const char* const name = emulated_value("CARBON_EMULATED_NAME", device);
  const int length = name == nullptr ? 0 : static_cast<int>(std::strcspn(name, ","));
  std::snprintf(properties->name, sizeof properties->name, "%.*s", length > 0 ? length : 12,
                length > 0 ? name : "emulated GPU");
  properties->totalGlobalMem = memory_limit(device);
  properties->major = sm / 10;
  properties->minor = sm % 10;
  properties->multiProcessorCount =
      static_cast<int>(emulated_setting("CARBON_EMULATED_MULTIPROCESSORS", device, 2));
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr, int device) {
  if (!is_there(device)) return cudaErrorInvalidDevice;
  *value = shared_limit(device);
  return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) {
  if (!is_there(device)) return cudaErrorInvalidDevice;
  current_device = device;
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int* device) {
  *device = current_device;
  return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  *stream = new EmulatedStream{current_device};
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  finish_emulated_copies(stream->device);
  delete stream;
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  refuse_capture("waited for");
  finish_emulated_copies(stream->device);
  carbon::emulation::wait_for_kernels(stream->device);
  return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  *event = new EmulatedEvent;
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  refuse_capture("given an event");
  event->stream = stream;
  event->time = std::chrono::steady_clock::now();
  return cudaSuccess;
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t from, cudaEvent_t to) {
  *milliseconds = std::chrono::duration<float, std::milli>(to->time - from->time).count();
  return cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  if (event->stream != nullptr) finish_emulated_copies(event->stream->device);
  return cudaSuccess;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  refuse_capture("captured again");
  capturing = true;
  stream->capture = new EmulatedGraph;
  return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  capturing = false;
  *graph = std::exchange(stream->capture, nullptr);
  return *graph != nullptr ? cudaSuccess : cudaErrorInvalidValue;
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long) {
  const size_t graphs = emulated_setting("CARBON_EMULATED_GRAPHS", 0, 1);
  if (graphs == 0 || (graphs == 2 && graph->overlap)) return cudaErrorInvalidResourceHandle;
  *executable = new EmulatedGraph(*graph);
  return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete graph;
  return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  delete executable;
  return cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
  refuse_capture("given a graph");
  if (stream->device != current_device) return cudaErrorInvalidResourceHandle;
  finish_emulated_copies(stream->device);
  if (!emulated_kernels_run()) return cudaSuccess;
  for (const auto& launch : executable->launches) launch();
  return cudaSuccess;
}

cudaError_t cudaMalloc(void** memory, size_t bytes) {
  refuse_capture("followed by an allocation");
  Memory& m = device_memory();
  const std::lock_guard lock(m.mutex);
  size_t& in_use = m.in_use[current_device];
  if (bytes + in_use + memory_denied(current_device) > memory_limit(current_device))
    return cudaErrorMemoryAllocation;
  const size_t rounded = (bytes + kGuard - 1) / kGuard * kGuard;
  auto* const block = static_cast<unsigned char*>(std::aligned_alloc(kGuard, rounded + 2 * kGuard));
  if (block == nullptr) return cudaErrorMemoryAllocation;
  std::memset(block, kGuardByte, kGuard);
  if (emulated_kernels_run()) std::memset(block + kGuard, 0xff, bytes);
  std::memset(block + kGuard + bytes, kGuardByte, rounded - bytes + kGuard);
  *memory = block + kGuard;
  m.blocks[*memory] = {bytes, current_device};
  carbon::emulation::take_memory(*memory, bytes, current_device);
  in_use += bytes;
  return cudaSuccess;
}

cudaError_t cudaFree(void* memory) {
  refuse_capture("followed by freed memory");
  for (int device = 0; is_there(device); ++device) finish_emulated_copies(device);
  Memory& m = device_memory();
  const std::lock_guard lock(m.mutex);
  const auto at = m.blocks.find(memory);
  if (at == m.blocks.end()) fail("freed what was not allocated");
  const auto* const block = static_cast<unsigned char*>(memory) - kGuard;
  const size_t bytes = at->second.bytes, rounded = (bytes + kGuard - 1) / kGuard * kGuard;
  for (size_t i = 0; i < rounded + 2 * kGuard; ++i)
    if ((i < kGuard || i >= kGuard + bytes) && block[i] != kGuardByte) fail("written outside a block");
  m.in_use[at->second.device] -= bytes;
  m.blocks.erase(at);
  carbon::emulation::release_memory(memory);
  std::free(const_cast<unsigned char*>(block));
  return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  Memory& m = device_memory();
  const std::lock_guard lock(m.mutex);
  *total = memory_limit(current_device);
  *free = *total - std::min(*total, m.in_use[current_device]);
  return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  refuse_capture("used for a copy");
  if (kind != cudaMemcpyDeviceToHost && !lies_in_a_block(to, bytes, stream->device))
    fail("copied to outside a block of the stream's device");
  if (kind != cudaMemcpyHostToDevice && !lies_in_a_block(from, bytes, stream->device))
    fail("copied from outside a block of the stream's device");
  if (!emulated_kernels_run()) {
    // The test of products (kernels/cuda/selftest.hpp) finds no difference. More would take time of the host.
    if (kind == cudaMemcpyDeviceToHost) std::memset(to, 0, std::min<size_t>(bytes, 128));
    return cudaSuccess;
  }
  if (kind == cudaMemcpyHostToDevice) {
    if (!is_locked(from, bytes)) fail("copied from memory of the host that is not page-locked");
    Memory& m = device_memory();
    const std::lock_guard lock(m.mutex);
    m.copies[stream->device].push_back({to, from, bytes});
    return cudaSuccess;
  }
  if (kind == cudaMemcpyDeviceToHost && !is_locked(to, bytes))
    fail("copied to memory of the host that is not page-locked");
  finish_emulated_copies(stream->device);
  std::memcpy(to, from, bytes);
  return cudaSuccess;
}

cudaError_t cudaMemcpy2DAsync(void* to, size_t to_step, const void* from, size_t from_step, size_t bytes,
                              size_t rows, cudaMemcpyKind kind, cudaStream_t stream) {
  for (size_t i = 0; i < rows; ++i)
    cudaMemcpyAsync(static_cast<char*>(to) + i * to_step, static_cast<const char*>(from) + i * from_step,
                    bytes, kind, stream);
  return cudaSuccess;
}

void finish_emulated_copies(int device) {
  Memory& m = device_memory();
  const std::lock_guard lock(m.mutex);
  if (m.copies[device].empty()) return;
  // A copy, which no kernel may overtake, has waited for those ahead.
  carbon::emulation::wait_for_kernels(device);
  for (const Copy& copy : m.copies[device]) std::memcpy(copy.to, copy.from, copy.bytes);
  m.copies[device].clear();
}

cudaError_t cudaMallocHost(void** memory, size_t bytes) {
  *memory = std::malloc(bytes);
  if (*memory == nullptr) return cudaErrorMemoryAllocation;
  Memory& m = device_memory();
  const std::lock_guard lock(m.mutex);
  m.locked[*memory] = bytes;
  return cudaSuccess;
}
cudaError_t cudaFreeHost(void* memory) {
  Memory& m = device_memory();
  const std::lock_guard lock(m.mutex);
  if (m.locked.erase(memory) == 0) fail("freed what was not page-locked");
  std::free(memory);
  return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void* memory, int value, size_t bytes, cudaStream_t stream) {
  refuse_capture("used for clearing");
  if (!lies_in_a_block(memory, bytes, stream->device)) fail("cleared outside a block of the stream's device");
  finish_emulated_copies(stream->device);
  if (emulated_kernels_run()) std::memset(memory, value, bytes);
  return cudaSuccess;
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void*) {
  attributes->ptxVersion = static_cast<int>(emulated_setting("CARBON_EMULATED_SM", current_device, 90));
  return cudaSuccess;
}

cudaError_t cudaFuncGetName(const char**, const void*) {
  return cudaErrorInvalidValue;
}

cudaError_t cudaFuncSetAttribute(const void*, cudaFuncAttribute, int value) {
  return value <= shared_limit(current_device) ? cudaSuccess : cudaErrorInvalidValue;
}
