#include "kernels/cuda/stream.hpp"

#include "kernels/cuda/launch.hpp"

namespace carbon::cuda {

Stream::Stream() {
  check(cudaStreamCreateWithFlags(&handle_, cudaStreamNonBlocking), "starting work on the GPU");
}

Stream::~Stream() {
  cudaStreamDestroy(handle_);
}

}  // namespace carbon::cuda
