// matrix_rate() of limits.hpp where the device is emulated and there is no cuBLASLt: the backend's own
// product.
#include <cmath>

#include "bench/gpu/limits.hpp"
#include "bench/gpu/timing.hpp"
#include "kernels/cuda/kernels.hpp"
#include "kernels/cuda/selftest.hpp"
#include "kernels/tensor.hpp"

namespace carbon::gpu_bench {

double matrix_rate(const std::shared_ptr<const cuda::Device>& device, const Effort& effort) {
  const size_t n = effort.matrix_size;
  const cuda::Memory a(device, n * n * sizeof(bf16), "a product"),
      b(device, n * n * sizeof(bf16), "a product"), d(device, n * n * sizeof(float), "a product");
  cuda::fill_random(*device, a.get(), n * n);
  cuda::fill_random(*device, b.get(), n * n);
  const double seconds = median_seconds(effort.seconds, effort.repeats, [&] {
    cuda::run_linear_mma(device->stream(), {a.get(), b.get(), n, n, n, d.as<float>(), n});
    device->wait();
  });
  return 2.0 * std::pow(static_cast<double>(n), 3) / seconds;
}

}  // namespace carbon::gpu_bench
