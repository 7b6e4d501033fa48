// kernels/cuda/: the operations on a GPU, as carbon-cuda.so, which is loaded at run time: calls of the
// interface come in, and kernels of CUDA and products of cuBLASLt run in one stream (README.md).
//
// Here is ops::Backend on a CUDA device.
#pragma once

#include <memory>

#include "kernels/cuda/device.hpp"
#include "kernels/ops.hpp"

namespace carbon::cuda {

std::unique_ptr<ops::Backend> make_backend(const ops::CudaOptions& options);
/// A backend on a device that the caller shares, for tests that examine its stream. `options.device` is
/// ignored.
std::unique_ptr<ops::Backend> make_backend(std::shared_ptr<const Device> device,
                                           const ops::CudaOptions& options);

}  // namespace carbon::cuda
