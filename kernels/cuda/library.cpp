// What the program sees of the CUDA backend. carbon-cuda.so exports the function at the end, and that of
// stamp.cpp.
#include "kernels/cuda/library.hpp"

#include <string>

#include "kernels/cuda/cuda_backend.hpp"
#include "kernels/cuda/device.hpp"
#include "kernels/cuda/matmul.hpp"
#include "kernels/cuda/stream.hpp"

namespace carbon::cuda {
namespace {

std::string description() {
  int version = 0;
  check(cudaRuntimeGetVersion(&version), "asking for the version of the CUDA runtime");
  const std::string switches = describe_switches();
  return spelled_cuda(version) + ", " + compiled_kinds() + (switches.empty() ? "" : ", " + switches);
}

class CudaLibrary final : public Library {
 public:
  ops::CudaStatus status() const override {
    ops::CudaStatus status;
    try {
      status.library = description();
      const Switches switches = read_switches();
      if (switches.library_required) require_matmul_library();
      status.devices = list_devices();
      if (switches.library) require_matmul_library();
    } catch (const Error& error) {
      status.problem = error.what();
    }
    return status;
  }
  std::unique_ptr<ops::Backend> make_backend(const ops::CudaOptions& options) const override {
    if (read_switches().library_required) require_matmul_library();
    return cuda::make_backend(options);
  }
};

}  // namespace
}  // namespace carbon::cuda

extern "C" __attribute__((visibility("default"))) const carbon::cuda::Library* carbon_cuda_library() {
  static const carbon::cuda::CudaLibrary library;
  return &library;
}
