// A library of products for kernels/cuda/matmul.hpp on a CPU, with the faults that one may have.
#pragma once

#include <memory>
#include <vector>

#include "kernels/cuda/matmul.hpp"

namespace carbon::cuda {

/// An algorithm that sums k in ascending order, except for what is asked for. Numbers of rows are those of a
/// product, rows those of act in a product.
struct EmulatedAlgorithm {
  bool (*unsupported)(size_t n) = nullptr;             // numbers of rows that it refuses
  bool (*descending)(size_t n, size_t row) = nullptr;  // rows that are summed in descending order
  bool descending_gaps = false;                        // so is a product whose results have gaps between rows
  const char* objection = "";
  const char* failure = nullptr;  // what it throws
};

/// Proposes these algorithms for every shape.
std::unique_ptr<MatmulLibrary> make_emulated_library(std::shared_ptr<const Device> device,
                                                     std::vector<EmulatedAlgorithm> algorithms);

}  // namespace carbon::cuda
