// How products are cut into blocks for threads.
#include "kernels/cpu/cpu_parts.hpp"

#include <doctest/doctest.h>

#include <initializer_list>

#include "kernels/cpu/kernels.hpp"

using namespace carbon::cpu;

namespace {

/// Rows times panels of the thread that has the most blocks.
size_t busiest(size_t n, size_t panels, size_t threads, const ProductBlocks& block) {
  const size_t blocks = divide_up(n, block.rows) * divide_up(panels, block.panels);
  return divide_up(blocks, threads) * block.rows * block.panels;
}

}  // namespace

TEST_CASE("blocks of products keep to their limits") {
  for (const size_t tile_rows : {1, 6, 12, 16})
    for (const size_t n : {1, 2, 15, 16, 47, 48, 49, 191, 192, 193, 512, 2048})
      for (const size_t panels : {1, 2, 16, 24, 48, 96, 2434})
        for (const size_t threads : {1, 2, 3, 16, 64, 192}) {
          CAPTURE(n);
          CAPTURE(panels);
          CAPTURE(threads);
          const ProductBlocks block = product_blocks(n, panels, threads, tile_rows);
          CHECK(block.rows % tile_rows == 0);
          CHECK(block.rows > 0);
          CHECK(block.rows <= kLinearRows);
          CHECK(block.panels > 0);
          CHECK(block.panels <= 16);
        }
}

TEST_CASE("blocks of products keep threads equally busy") {
  struct Product {
    size_t n, panels, threads;
    double most;  // of the busiest thread, in shares of equal ones
  };
  // The matrices of the 500M shape in prefill of 512 tokens and in decoding of 16, and of the 8B shape.
  // With four tasks a thread, the last can keep it busy a quarter longer than the others. A
  // matrix of 1,024 outputs is 16 panels, so that 64 threads cannot share the product of few rows.
  for (const auto& [n, panels, threads, most] :
       {Product{512, 16, 16, 1.25}, Product{512, 24, 16, 1.25}, Product{512, 48, 16, 1.25},
        Product{512, 16, 64, 1.25}, Product{512, 24, 64, 1.25}, Product{512, 48, 64, 1.25},
        Product{16, 16, 16, 1.0}, Product{16, 48, 16, 1.0}, Product{16, 16, 64, 4.0},
        Product{16, 224, 64, 1.25}, Product{512, 64, 128, 1.25}, Product{512, 224, 128, 1.25}}) {
    CAPTURE(n);
    CAPTURE(panels);
    CAPTURE(threads);
    const double share = static_cast<double>(n * panels) / static_cast<double>(threads);
    CHECK(static_cast<double>(busiest(n, panels, threads, product_blocks(n, panels, threads, 16))) / share <=
          most);
  }
}

TEST_CASE("each thread has a few blocks of a product if there is enough") {
  for (const size_t threads : {2, 16}) {
    const ProductBlocks block = product_blocks(2048, 96, threads, 16);
    CHECK(divide_up(2048, block.rows) * divide_up(96, block.panels) >= 2 * threads);
  }
}
