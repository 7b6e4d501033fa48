// Runs CUDA kernels on the CPU, for tests: a block at a time, each of its threads a fiber.
//
// What it checks: indices and arithmetic, the fragments of the tensor cores' instructions as the PTX manual
// lays them out, that all threads of a block meet at its barriers and all lanes of a warp at its
// instructions, that nothing depends on the order in which blocks or threads run (it is shuffled), on what
// shared memory held before (NaN) or on an asynchronous copy that was not waited for (it takes place only
// then), that every thread waits for the kernel ahead, and that whatever two threads do to the same memory is
// ordered by something (memory_watch.hpp). What it cannot check: timing, the instructions' encodings, and the
// rounding inside the tensor cores (here: products summed in double, rounded once).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

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
/// All lanes of the warp meet, and what they did before comes before what they do after.
void sync_warp();
/// This lane's number.
size_t lane();

/// The block's dynamic shared memory. read_shared() ends the program unless [address, address + bytes) lies
/// in it, aligned to `alignment`, and may be read by the running thread.
unsigned char* shared_memory();
void read_shared(const void* address, size_t bytes, size_t alignment);

/// Every thread has to wait for the kernel ahead, which a device may not have finished. Before it, a copy or
/// a barrier ends the program.
void wait_for_last_kernel();
/// Reads a byte, for the sanitizers.
void touch(const void* address);
/// Counts one of `n` arrivals of blocks; true for the last one, which sets the counter to 0 again.
bool arrive(uint32_t* counter, uint32_t n);

/// Asynchronous copies of the running thread.
void copy_async(void* to, const void* from, bool valid);
void copy_async_commit();
void copy_async_wait(size_t pending);

/// What the running thread reads and writes between these is watched.
void enter_kernel();
void leave_kernel();
/// For the compiler's calls (hooks.cpp): `code` is where. End the program if the access is an error.
void watch_read(const void* address, size_t bytes, const void* code);
void watch_write(const void* address, size_t bytes, const void* code);
[[noreturn]] void fail(const std::string& what, const void* code);

/// Device memory comes and goes; the host knows that the device's kernels have ended.
void take_memory(const void* memory, size_t bytes, int device);
void release_memory(const void* memory);
void wait_for_kernels(int device);
/// A kernel of a library has written this.
void library_wrote(const void* memory, size_t bytes);

}  // namespace carbon::emulation
