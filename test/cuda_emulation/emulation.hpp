// Runs CUDA kernels on the CPU, for tests: a block at a time, each of its threads a fiber.
//
// What it checks: indices and arithmetic, the fragments of the tensor cores' instructions as the PTX manual
// lays them out, that all threads of a block meet at its barriers and all lanes of a warp at its
// instructions, that nothing depends on the order in which blocks or threads run (it is shuffled), on what
// shared memory held before (NaN) or on an asynchronous copy that was not waited for (it takes place only
// then), and that every thread waits for the kernel ahead. What it cannot check: timing, the instructions'
// encodings, the rounding inside the tensor cores (here: products summed in double, rounded once), and races
// that no order of whole steps between barriers shows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

struct uint3 {
  unsigned x = 0, y = 0, z = 0;
};
struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};

// The running thread's.
extern uint3 threadIdx, blockIdx;
extern dim3 blockDim, gridDim;

/// All threads of the block meet.
void __syncthreads();

namespace carbon::emulation {

inline constexpr size_t kLanes = 32;

/// Runs `body` for every thread of every block. An error in the kernel (a barrier that not all reach, an
/// access outside shared memory) ends the program with a message: there is nothing to recover.
void run_grid(const char* name, dim3 grid, dim3 block, size_t shared_bytes,
              const std::function<void()>& body);

/// What a lane brings to an instruction of its warp.
struct Operands {
  uint32_t word[8];
  const void* address;
};
/// All lanes of the warp meet with their operands, each naming the same `instruction`. The operands of all,
/// valid until this lane's next instruction.
const Operands* meet(const char* instruction, const Operands& mine);
/// This lane's number.
size_t lane();

/// The block's dynamic shared memory. access() ends the program unless [address, address + bytes) lies in it,
/// aligned to `alignment`.
unsigned char* shared_memory();
void access(const void* address, size_t bytes, size_t alignment);

/// Every thread has to wait for the kernel ahead, which a device may not have finished. Before it, a copy or
/// a barrier ends the program.
void wait_for_last_kernel();
/// Reads a byte, for the sanitizers.
void touch(const void* address);

/// Asynchronous copies of the running thread.
void copy_async(void* to, const void* from, bool valid);
void copy_async_commit();
void copy_async_wait(size_t pending);

}  // namespace carbon::emulation
