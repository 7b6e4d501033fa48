// States of the residual stream on their way to the host: their final norm, and sums of them (ops::Backend).
#pragma once

#include <memory>
#include <span>

#include "kernels/cuda/device.hpp"
#include "kernels/ops.hpp"

namespace carbon::cuda {

class States {
 public:
  explicit States(std::shared_ptr<const Device> device)
      : device_(device), scratch_(std::move(device), "states") {}
  void final_norm(const float* x, const float* weight, float eps, size_t n, size_t width, float* out);
  void sum_rows(const float* x, const float* weight, float eps, size_t width,
                std::span<const ops::RowSums> rows, double* sums);

 private:
  std::shared_ptr<const Device> device_;
  Scratch scratch_;
};

}  // namespace carbon::cuda
