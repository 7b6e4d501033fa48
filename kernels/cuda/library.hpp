// The interface of carbon-cuda.so to the program that loads it.
//
// The program is built without CUDA and finds this interface by name at run time. The two are linked
// separately, so both have a stamp of the headers of the interface and of the compiler. They are used
// together only if the stamps are equal.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backend_stamp.h"  // written by the Makefile: CARBON_BACKEND_STAMP
#include "kernels/ops.hpp"

namespace carbon::cuda {

class Library {
 public:
  virtual ~Library() = default;
  /// The version of the runtime and the compiled kinds of device, such as "13.0, sm_80 sm_90", then the
  /// switches that the environment sets (switches.hpp). Throws Error if one has a value that it cannot have.
  virtual std::string description() const = 0;
  /// One line per device. Throws Error if there is no driver or no device.
  virtual std::vector<std::string> devices() const = 0;
  virtual std::unique_ptr<ops::Backend> make_backend(const ops::CudaOptions& options) const = 0;
};

/// The two functions that the program looks up: const char* carbon_cuda_stamp() and
/// const carbon::cuda::Library* carbon_cuda_library().
using StampFunction = const char* (*)();
using LibraryFunction = const Library* (*)();

}  // namespace carbon::cuda
