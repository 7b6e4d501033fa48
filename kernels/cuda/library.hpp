// The interface of the CUDA backend to the program.
//
// The backend is usually carbon-cuda.so, which the program finds and opens at run time. The two are linked
// separately, so both have a stamp of the headers of the interface and of the compiler. They are used
// together only if the stamps are equal. The backend may also be linked in (LINK_CUDA of the Makefile).
#pragma once

#include <memory>

#include "kernels/ops.hpp"

namespace carbon::cuda {

class Library {
 public:
  virtual ~Library() = default;
  /// What there is of CUDA on this machine. The text of the library has the version of the runtime and the
  /// compiled kinds of device, such as "13.0, sm_80 sm_90", then the switches that the environment sets
  /// (stream.hpp). Never an Error.
  virtual ops::CudaStatus status() const = 0;
  virtual std::unique_ptr<ops::Backend> make_backend(const ops::CudaOptions& options) const = 0;
};

/// The two functions of carbon-cuda.so that the program looks up: const char* carbon_cuda_stamp() and
/// const carbon::cuda::Library* carbon_cuda_library().
using StampFunction = const char* (*)();
using LibraryFunction = const Library* (*)();

}  // namespace carbon::cuda
