// What carbon-cuda.so offers the program that loads it.
//
// The program is built without CUDA and finds this interface by name at run time. It crosses a border between
// two separately linked objects, so both carry a stamp of the headers it is made of and of the compiler;
// objects whose stamps differ are not used together.
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
  /// E.g. "13.0, sm_80 sm_90": the version of the runtime and the kinds of device compiled for.
  virtual std::string description() const = 0;
  /// One line a device. Throws Error without a driver or a device.
  virtual std::vector<std::string> devices() const = 0;
  virtual std::unique_ptr<ops::Backend> make_backend(const ops::CudaOptions& options) const = 0;
};

/// The two names that are looked up: const char* carbon_cuda_stamp() and
/// const carbon::cuda::Library* carbon_cuda_library().
using StampFunction = const char* (*)();
using LibraryFunction = const Library* (*)();

}  // namespace carbon::cuda
