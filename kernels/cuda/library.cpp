// The two functions that carbon-cuda.so exports.
#include "kernels/cuda/library.hpp"

#include "kernels/cuda/cuda_backend.hpp"
#include "kernels/cuda/device.hpp"
#include "kernels/cuda/launch.hpp"
#include "kernels/cuda/switches.hpp"

namespace carbon::cuda {
namespace {

class CudaLibrary final : public Library {
 public:
  std::string description() const override {
    int version = 0;
    check(cudaRuntimeGetVersion(&version), "asking for the version of the CUDA runtime");
    const std::string switches = describe_switches();
    return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10) + ", " +
           compiled_kinds() + (switches.empty() ? "" : ", " + switches);
  }
  std::vector<std::string> devices() const override { return list_devices(); }
  std::unique_ptr<ops::Backend> make_backend(const ops::CudaOptions& options) const override {
    return cuda::make_backend(options);
  }
};

}  // namespace
}  // namespace carbon::cuda

extern "C" __attribute__((visibility("default"))) const char* carbon_cuda_stamp() {
  return CARBON_BACKEND_STAMP;
}

extern "C" __attribute__((visibility("default"))) const carbon::cuda::Library* carbon_cuda_library() {
  static const carbon::cuda::CudaLibrary library;
  return &library;
}
