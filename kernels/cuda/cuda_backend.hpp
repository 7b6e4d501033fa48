// ops::Backend on a CUDA device.
#pragma once

#include <memory>

#include "kernels/ops.hpp"

namespace carbon::cuda {

std::unique_ptr<ops::Backend> make_backend(const ops::CudaOptions& options);

}  // namespace carbon::cuda
