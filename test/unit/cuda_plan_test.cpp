// mma_plan.hpp: how the CUDA backend cuts its products on tensor cores. No GPU and no CUDA is needed for
// that.
#include "kernels/cuda/mma_plan.hpp"

#include <doctest/doctest.h>

#include <iterator>

namespace {

using namespace carbon::cuda;

// Multiprocessors, and shared memory of a block (CUDA programming guide, compute capabilities 8.0 to 9.0).
constexpr MmaDevice kA100{108, size_t{163} << 10}, kA10{72, size_t{99} << 10}, kH100{132, size_t{227} << 10};

bool exists(const MmaTile& tile) {
  return tile == kLargeTile || std::ranges::find(kStreamTiles, tile) != std::end(kStreamTiles);
}

size_t divide_up(size_t a, size_t b) {
  return (a + b - 1) / b;
}

/// Bytes of a weight that all multiprocessors together have under way, at most.
size_t under_way(const MmaTile& tile, size_t outputs, const MmaDevice& device) {
  const size_t together = (device.shared + 1024) / (stream_shared_bytes(tile) + 1024);
  const size_t blocks = std::min(divide_up(outputs, tile.outputs), together * device.multiprocessors);
  return blocks * (tile.stages - 1) * kMmaSlices * tile.outputs * kMmaDepth * 2;
}

}  // namespace

TEST_CASE("the slices of k are of equal size, cover all of it and depend on nothing else") {
  for (size_t k = 1; k <= 20000; ++k) {
    const size_t steps = mma_steps(k), slice = mma_slice(k);
    REQUIRE(steps * kMmaDepth >= k);
    REQUIRE((steps - 1) * kMmaDepth < k);
    REQUIRE(slice * kMmaSlices >= steps);
    REQUIRE((slice - 1) * kMmaSlices < steps);
  }
}

TEST_CASE("a ring of stages keeps several steps under way and holds the sums that take its place") {
  for (const MmaTile& tile : kStreamTiles) {
    CHECK(tile.stages >= 3);
    CHECK(stream_shared_bytes(tile) <= kA100.shared);
    CHECK(stream_shared_bytes(tile) >= kMmaSlices * tile.rows * tile.outputs * sizeof(float));
    CHECK(tile.rows <= kStreamRows);
  }
}

TEST_CASE("a choice of tiles that is remembered is the one that was made") {
  MmaTiles tiles(kH100);
  for (int round = 0; round < 2; ++round)
    for (size_t n = 1; n < 70; n += 1 + n / 9)
      for (size_t outputs = 64; outputs <= 8448; outputs += 704)
        for (const size_t least_outputs : {0, 16})
          for (int again = 0; again < 2; ++again)
            REQUIRE(tiles.choose(n, outputs, least_outputs) ==
                    choose_mma_tile(n, outputs, kH100, least_outputs));
}

TEST_CASE("the tile fits the device, is just tall enough, and is the cheapest of its height") {
  for (const MmaDevice& device : {MmaDevice{1, kA10.shared}, MmaDevice{2, kH100.shared}, kA10, kA100, kH100})
    for (const size_t outputs : {4, 512, 1024, 3072, 4096, 14336})
      for (const size_t n : {1, 2, 7, 8, 9, 16, 17, 32, 33, 63, 64, 65, 128, 500, 2048, 100000})
        for (const size_t least_outputs : {0, 16}) {
          const MmaTile tile = choose_mma_tile(n, outputs, device, least_outputs);
          REQUIRE(exists(tile));
          CHECK(tile.outputs >= least_outputs);
          CHECK(tile.rows >= std::min(n, kStreamRows));
          if (tile == kLargeTile) {
            CHECK(n > kStreamRows);
            continue;
          }
          CHECK(stream_shared_bytes(tile) <= device.shared);
          if (tile.rows > 8) CHECK(tile.rows / 2 < n);
          for (const MmaTile& other : kStreamTiles)
            if (other.rows == tile.rows && other.outputs >= least_outputs &&
                stream_shared_bytes(other) <= device.shared)
              CHECK(mma_tile_cost(tile, n, outputs, device) <= mma_tile_cost(other, n, outputs, device));
        }
}

TEST_CASE("few rows take narrow tiles, many the large one") {
  // One row adds an eighth to the weights' bytes at most; what counts then is the number of blocks.
  for (const size_t outputs : {512, 1024, 3072, 4096, 14336})
    CHECK(choose_mma_tile(1, outputs, kH100) == MmaTile{8, 8, 16});
  // Otherwise a block's activations would be several times its weights.
  CHECK(choose_mma_tile(64, 14336, kH100).outputs == 64);
  for (const size_t outputs : {3072, 4096, 14336}) CHECK(choose_mma_tile(2048, outputs, kH100) == kLargeTile);
}

// Little's law. Of an H100: 3.35 TB/s times 1 us, 25 KB for each of its multiprocessors; of 64 rows, whose
// activations take half of the rings, three quarters of that. Weights narrower than these (k and v of all
// models, most of the 500M) have too few outputs for it, and little to read.
TEST_CASE("enough of a wide weight is under way to an H100") {
  constexpr size_t kWanted = 3350000;
  const auto of = [](size_t n, size_t outputs, size_t least_outputs) {
    return under_way(choose_mma_tile(n, outputs, kH100, least_outputs), outputs, kH100);
  };
  for (const size_t outputs : {3072, 4096, 6144, 16896, 28672}) {
    CAPTURE(outputs);
    for (const size_t least_outputs : {0, 16}) {
      CHECK(of(1, outputs, least_outputs) >= kWanted);
      CHECK(of(8, outputs, least_outputs) >= kWanted);
      CHECK(of(64, outputs, least_outputs) >= kWanted / 4 * 3);
    }
  }
}

TEST_CASE("a pass has rows for a whole device, in steps of 256, and not fewer than a CPU's") {
  CHECK(pass_rows(kH100.multiprocessors) == 8448);
  CHECK(pass_rows(kA100.multiprocessors) == 6912);
  CHECK(pass_rows(kA10.multiprocessors) == 4608);
  CHECK(pass_rows(114) == 7168);
  CHECK(pass_rows(2) == 2048);
}
