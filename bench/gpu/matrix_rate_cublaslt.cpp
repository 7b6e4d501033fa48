// matrix_rate() of limits.hpp: the fastest of the algorithms that cuBLASLt proposes.
#include <algorithm>
#include <array>

#include "bench/gpu/limits.hpp"
#include "bench/gpu/timing.hpp"
#include "kernels/cuda/cublaslt.hpp"
#include "kernels/cuda/selftest.hpp"
#include "kernels/tensor.hpp"

namespace carbon::gpu_bench {
namespace {

constexpr size_t kWorkspace = size_t{64} << 20;
constexpr int kCandidates = 8;
constexpr int kProducts = 4;  // to a wait, so that the wait does not count

}  // namespace

double matrix_rate(const std::shared_ptr<const cuda::Device>& device, const Effort& effort) {
  const size_t n = effort.matrix_size;
  const cuda::BlasHandle handle = cuda::make_blas_handle();
  const cuda::BlasOperation operation = cuda::make_blas_operation();
  const cuda::BlasLayout layout = cuda::make_blas_layout(CUDA_R_16BF, n, n, n);
  const cuda::Memory a(device, n * n * sizeof(bf16), "a product"),
      b(device, n * n * sizeof(bf16), "a product"), d(device, n * n * sizeof(bf16), "a product"),
      workspace(device, kWorkspace, "a product");
  cuda::fill_random(*device, a.get(), n * n);
  cuda::fill_random(*device, b.get(), n * n);

  std::array<cublasLtMatmulHeuristicResult_t, kCandidates> found{};
  int count = 0;
  cuda::check_blas(cuda::cublaslt().propose(
                       handle.get(), operation.get(), layout.get(), layout.get(), layout.get(), layout.get(),
                       cuda::make_blas_preference(kWorkspace).get(), kCandidates, found.data(), &count),
                   "choosing an algorithm");
  const float one = 1.0f, zero = 0.0f;
  double best = 0;
  for (int i = 0; i < count; ++i) {
    const double seconds = median_seconds(effort.seconds / kCandidates, effort.repeats, [&] {
      for (int product = 0; product < kProducts; ++product)
        cuda::check_blas(
            cuda::cublaslt().multiply(handle.get(), operation.get(), &one, a.get(), layout.get(), b.get(),
                                      layout.get(), &zero, d.get(), layout.get(), d.get(), layout.get(),
                                      &found[i].algo, workspace.get(), kWorkspace, device->stream().handle()),
            "a matrix product");
      device->wait();
    });
    const auto size = static_cast<double>(n);
    best = std::max(best, 2.0 * kProducts * size * size * size / seconds);
  }
  return best;
}

}  // namespace carbon::gpu_bench
