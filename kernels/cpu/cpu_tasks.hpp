// kernels/cpu/: the operations on a CPU, in threads: cpu_* cut a call into tasks, and isa_* are the kernels
// for one set of instructions each, of which cpu_dispatch takes the fastest that the CPU has.
//
// Here is how many tasks threads share, and how a product is cut into them.
#pragma once

#include <cstddef>

namespace carbon::cpu {

/// Tasks of an operation, if there is enough to share: a few for each of several threads, so that none waits
/// long for the last.
constexpr size_t wanted_tasks(size_t threads) {
  return threads == 1 ? 1 : 4 * threads;
}

constexpr size_t divide_up(size_t a, size_t b) {
  return (a + b - 1) / b;
}

/// A product of n rows and a number of panels of outputs is computed in blocks of so many rows and panels;
/// the last blocks may be smaller.
struct ProductBlocks {
  size_t rows, panels;
};

/// The blocks with which the busiest thread has the least to do. They have at most kLinearRows rows, a
/// multiple of tile_rows. kLinearRows is one too, and n, panels and threads are at least 1.
ProductBlocks product_blocks(size_t n, size_t panels, size_t threads, size_t tile_rows);

}  // namespace carbon::cpu
