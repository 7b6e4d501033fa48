// The part of the CUDA runtime that the backend uses, on host memory: see test/cuda_emulation/emulation.hpp.
//
// Devices are made up from the environment, so that tests can ask for what this machine lacks:
//   CARBON_EMULATED_DRIVER   the CUDA that it is for, such as 11040; 0: there is none
//   CARBON_EMULATED_GPUS     how many (default 1)
//   CARBON_EMULATED_GRAPHS   0: no graph can be made; 2: none of kernels that overlap
//   CARBON_EMULATED_KERNELS  0: neither kernels nor copies are run, to see what the host alone takes
//   CARBON_EMULATED_SM       compute capability times ten (default 90)
//   CARBON_EMULATED_NAME     of the card (default "emulated GPU")
//   CARBON_EMULATED_MULTIPROCESSORS  (default 2)
//   CARBON_EMULATED_MEMORY   bytes (default: no limit)
//   CARBON_EMULATED_DENIED   bytes of them that seem free and cannot be allocated (default 0)
//   CARBON_EMULATED_ERROR    by how many 2^-20 results of the matrix library are too large (default 0)
// The last five are lists such as 90,80: a value a device, the last one for all that follow.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "test/cuda_emulation/emulation.hpp"

#define CUDART_VERSION 13000
#define __global__
#define __device__
#define __launch_bounds__(...)

enum cudaError_t {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInsufficientDriver = 35,
  cudaErrorNoDevice = 100,
  cudaErrorInvalidDevice = 101,
  cudaErrorInvalidResourceHandle = 400
};
enum cudaMemcpyKind { cudaMemcpyHostToDevice = 1, cudaMemcpyDeviceToHost = 2, cudaMemcpyDeviceToDevice = 3 };
enum cudaFuncAttribute {
  cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
  cudaFuncAttributePreferredSharedMemoryCarveout = 9
};
inline constexpr int cudaSharedmemCarveoutMaxShared = 100;
enum cudaDeviceAttr { cudaDevAttrMaxSharedMemoryPerBlockOptin = 97 };
/// Launches in their order, to be run later.
struct EmulatedGraph {
  std::vector<std::function<void()>> launches;
  bool overlap = false;  // of some of them
};
using cudaGraph_t = EmulatedGraph*;
using cudaGraphExec_t = EmulatedGraph*;
struct EmulatedStream {
  int device;
  EmulatedGraph* capture = nullptr;  // gets what is launched meanwhile
};
using cudaStream_t = EmulatedStream*;
enum cudaStreamCaptureMode { cudaStreamCaptureModeThreadLocal = 1 };
inline constexpr unsigned cudaStreamNonBlocking = 1;
struct EmulatedEvent {
  cudaStream_t stream = nullptr;
  std::chrono::steady_clock::time_point time = {};
};
using cudaEvent_t = EmulatedEvent*;
inline constexpr unsigned cudaEventDefault = 0, cudaEventDisableTiming = 2;

struct cudaDeviceProp {
  char name[256];
  size_t totalGlobalMem;
  int major, minor, multiProcessorCount;
};
enum cudaLaunchAttributeID { cudaLaunchAttributeProgrammaticStreamSerialization = 6 };
struct cudaLaunchAttribute {
  cudaLaunchAttributeID id;
  struct {
    int programmaticStreamSerializationAllowed;
  } val;
};
struct cudaFuncAttributes {
  int ptxVersion;
};
struct cudaLaunchConfig_t {
  dim3 gridDim, blockDim;
  size_t dynamicSmemBytes = 0;
  cudaStream_t stream = nullptr;
  cudaLaunchAttribute* attrs = nullptr;
  unsigned numAttrs = 0;
};

const char* cudaGetErrorString(cudaError_t error);
const char* cudaGetErrorName(cudaError_t error);
cudaError_t cudaGetLastError();
cudaError_t cudaRuntimeGetVersion(int* version);
cudaError_t cudaDriverGetVersion(int* version);
cudaError_t cudaGetDeviceCount(int* count);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device);
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDevice(int* device);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
/// By the host's clock.
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t from, cudaEvent_t to);
/// Until the end of the capture, all else on the stream and allocations of the thread end the program.
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode);
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph);
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long flags);
cudaError_t cudaGraphDestroy(cudaGraph_t graph);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable);
cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream);
/// Filled with NaN; what is written just before or behind it is found by cudaFree, which ends the program.
cudaError_t cudaMalloc(void** memory, size_t bytes);
cudaError_t cudaFree(void* memory);
cudaError_t cudaMemGetInfo(size_t* free, size_t* total);
/// Page-locked memory, the only one that cudaMemcpyAsync() reads.
cudaError_t cudaMallocHost(void** memory, size_t bytes);
cudaError_t cudaFreeHost(void* memory);
/// Ends the program for memory of another device than the stream's, and when it would read memory of the host
/// that is not page-locked. A copy from the host is done only when the stream goes on or is waited for.
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream);
/// The same for `rows` rows of `bytes`, which begin `to_step` and `from_step` bytes apart.
cudaError_t cudaMemcpy2DAsync(void* to, size_t to_step, const void* from, size_t from_step, size_t bytes,
                              size_t rows, cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t cudaMemsetAsync(void* memory, int value, size_t bytes, cudaStream_t stream);
/// Code for the device itself.
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* kernel);
/// Fails for more than a block of the emulated device may have.
cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute attribute, int value);
/// Fails: the emulated device knows no names.
cudaError_t cudaFuncGetName(const char** name, const void* kernel);

/// What CARBON_EMULATED_KERNELS said when it was first asked for.
bool emulated_kernels_run();

/// Does the copies from the host that have been put on the device's streams.
void finish_emulated_copies(int device);

/// The device's value in a list from the environment.
size_t emulated_setting(const char* name, int device, size_t otherwise);

template <class... Parameters, class... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Parameters...),
                               Arguments... arguments) {
  int device = 0;
  cudaGetDevice(&device);
  if (config->stream == nullptr || config->stream->device != device) return cudaErrorInvalidResourceHandle;
  finish_emulated_copies(device);
  const auto run = [name = __PRETTY_FUNCTION__, config = *config, kernel, arguments...] {
    carbon::emulation::run_grid(
        name, config.gridDim, config.blockDim, config.dynamicSmemBytes,
        [&]() __attribute__((no_sanitize("thread"))) {  // takes the arguments
          carbon::emulation::enter_kernel();
          kernel(arguments...);
          carbon::emulation::leave_kernel();
        });
  };
  if (config->stream->capture != nullptr) {
    config->stream->capture->launches.push_back(run);
    config->stream->capture->overlap |= config->numAttrs > 0;
  } else if (emulated_kernels_run()) {
    run();
  }
  return cudaSuccess;
}
