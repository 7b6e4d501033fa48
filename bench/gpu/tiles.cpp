#include "bench/gpu/tiles.hpp"

#include <algorithm>
#include <cstdio>

#include "bench/gpu/timing.hpp"
#include "kernels/cuda/kernels.hpp"
#include "kernels/cuda/mma_plan.hpp"
#include "kernels/cuda/selftest.hpp"

namespace carbon::gpu_bench {
namespace {

/// A product with one weight after another, in `bytes`, which are more than the cache of the device has.
class Products {
 public:
  Products(std::shared_ptr<const cuda::Device> device, const TileProduct& product, size_t most_rows,
           size_t bytes)
      : device_(std::move(device)),
        p_(product),
        weight_(product.outputs * product.k),
        copies_(std::max<size_t>(4, bytes / (weights() * weight_ * sizeof(bf16)))),
        act_(device_, most_rows * product.k * sizeof(bf16), "a measurement"),
        weight_memory_(device_, copies_ * weights() * weight_ * sizeof(bf16), "a measurement"),
        out_(device_, most_rows * product.outputs * sizeof(float), "a measurement") {
    cuda::fill_random(*device_, act_.get(), most_rows * product.k);
    cuda::fill_random(*device_, weight_memory_.get(), copies_ * weights() * weight_);
  }

  /// Seconds of one product of n rows.
  double seconds(size_t n, const cuda::MmaTile& tile, double least) const {
    return median_seconds(least, 3,
                          [&] {
                            for (size_t i = 0; i < copies_; ++i) run(n, tile, i * weights() * weight_);
                            device_->wait();
                          }) /
           static_cast<double>(copies_);
  }

 private:
  size_t weights() const { return p_.swiglu ? 2 : 1; }

  void run(size_t n, const cuda::MmaTile& tile, size_t first) const {
    const bf16* const weight = weight_memory_.as<bf16>() + first;
    if (p_.swiglu)
      return cuda::run_swiglu_stream(
          device_->stream(), {act_.get(), weight, weight + weight_, n, p_.outputs, p_.k, out_.get()}, tile);
    const cuda::LinearCall call{act_.get(), weight, n, p_.outputs, p_.k, out_.as<float>(), p_.outputs};
    if (tile == cuda::kLargeTile)
      cuda::run_linear_mma(device_->stream(), call);
    else
      cuda::run_linear_stream(device_->stream(), call, tile);
  }

  std::shared_ptr<const cuda::Device> device_;
  TileProduct p_;
  size_t weight_, copies_;  // elements of a weight; how often there is one, or a pair
  cuda::Memory act_, weight_memory_, out_;
};

size_t least_outputs(const TileProduct& product) {
  return product.swiglu ? cuda::kSwigluOutputs : 0;
}

/// The tiles that could serve n rows: those with at least a quarter as many, up to the largest.
std::vector<cuda::MmaTile> candidates(const TileProduct& product, size_t n, const cuda::MmaDevice& device) {
  std::vector<cuda::MmaTile> tiles;
  for (const cuda::MmaTile& tile : cuda::kStreamTiles)
    if (cuda::may_take(tile, n, device, least_outputs(product)) &&
        4 * tile.rows >= std::min(n, 2 * cuda::kStreamRows))
      tiles.push_back(tile);
  if (!product.swiglu && n > cuda::kStreamRows) tiles.push_back(cuda::kLargeTile);
  return tiles;
}

}  // namespace

void print_tiles(const std::shared_ptr<const cuda::Device>& device, std::span<const TileProduct> products,
                 std::span<const size_t> rows, const Effort& effort) {
  const cuda::MmaDevice kind{static_cast<size_t>(device->multiprocessors()), device->block_shared()};
  std::printf("\n| outputs x k | rows | tile | us | estimate |\n|---|---|---|---|---|\n");
  for (const TileProduct& product : products) {
    const Products made(device, product, *std::ranges::max_element(rows), effort.copy_bytes);
    const size_t outputs = product.outputs * (product.swiglu ? 2 : 1);
    for (const size_t n : rows) {
      const cuda::MmaTile chosen =
          cuda::choose_mma_tile({n, outputs, product.k}, kind, least_outputs(product));
      for (const cuda::MmaTile& tile : candidates(product, n, kind))
        std::printf("| %zu x %zu%s | %zu | %zu x %zu, %zu stages%s | %.4g | %.4g |\n", product.outputs,
                    product.k, product.swiglu ? ", SwiGLU" : "", n, tile.rows, tile.outputs, tile.stages,
                    tile == chosen ? " *" : "", 1e6 * made.seconds(n, tile, effort.seconds / 100),
                    cuda::mma_tile_cost(tile, {n, outputs, product.k}, kind));
      std::fflush(stdout);
    }
  }
}

}  // namespace carbon::gpu_bench
