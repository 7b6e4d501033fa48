// The emulation finds what it is there to find: kernels with an error each, run in a process of their own,
// which has to end saying so; and beside each the kernel without the error, which has to end well.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "kernels/cuda/device.hpp"
#include "kernels/cuda/device_math.cuh"
#include "kernels/cuda/launch.hpp"
#include "test/gpu/check.hpp"

namespace carbon::gpu_test {
namespace {

constexpr unsigned kThreads = 64;

/// What a kernel gets: device memory for a word a thread of two blocks, 0 to begin with, and a switch.
struct Words {
  uint32_t* words;
  uint32_t* counter;
  uint32_t wrong;  // 1: with the error
  uint32_t padding;
};

__device__ unsigned next_thread() {
  return (threadIdx.x + 1) % kThreads;
}
__device__ unsigned my_word() {
  return blockIdx.x * kThreads + threadIdx.x;
}

__global__ void not_written(Words w) {
  cuda::begin_kernel();
  auto* const shared = reinterpret_cast<uint32_t*>(cuda::shared_memory());
  if (w.wrong == 0) shared[threadIdx.x] = threadIdx.x;
  w.words[my_word()] = shared[threadIdx.x];
}

__global__ void no_barrier(Words w) {
  cuda::begin_kernel();
  auto* const shared = reinterpret_cast<uint32_t*>(cuda::shared_memory());
  shared[threadIdx.x] = 0;
  __syncthreads();
  shared[threadIdx.x] = threadIdx.x;
  if (w.wrong == 0) __syncthreads();
  w.words[my_word()] = shared[next_thread()];
}

// Not even a warp's lanes are in step.
__global__ void no_barrier_after_reading(Words w) {
  cuda::begin_kernel();
  auto* const shared = reinterpret_cast<uint32_t*>(cuda::shared_memory());
  shared[threadIdx.x] = threadIdx.x;
  __syncthreads();
  const uint32_t word = shared[threadIdx.x ^ 1];
  if (w.wrong == 0) __syncthreads();
  shared[threadIdx.x] = word;
}

/// Each thread copies 16 bytes to its place in shared memory, which all have written before, and waits for
/// its own copy.
__device__ unsigned char* copy_to_each(Words w) {
  unsigned char* const shared = cuda::shared_memory();
  for (unsigned i = 0; i < 4; ++i) reinterpret_cast<uint32_t*>(shared)[i * kThreads + threadIdx.x] = 0;
  __syncthreads();
  cuda::copy_async(shared + threadIdx.x * 16, w.words, true);
  cuda::copy_async_commit();
  cuda::copy_async_wait<0>();
  return shared;
}

__global__ void copy_seen_by_its_thread_only(Words w) {
  cuda::begin_kernel();
  const unsigned char* const shared = copy_to_each(w);
  if (w.wrong == 0) __syncthreads();
  emulation::read_shared(shared + next_thread() * 16, 16, 16);
}

/// The lane after this one, and that of the next warp.
__device__ unsigned next_lane(uint32_t other_warp) {
  const unsigned thread = threadIdx.x / 32 * 32 + (threadIdx.x + 1) % 32;
  return other_warp != 0 ? (thread + 32) % kThreads : thread;
}

__global__ void copy_not_seen_by_its_warp(Words w) {
  cuda::begin_kernel();
  const unsigned char* const shared = copy_to_each(w);
  if (w.wrong == 0) cuda::sync_warp();
  emulation::read_shared(shared + next_lane(0) * 16, 16, 16);
}

// Only the lanes of a warp meet.
__global__ void read_across_warps(Words w) {
  cuda::begin_kernel();
  auto* const shared = reinterpret_cast<uint32_t*>(cuda::shared_memory());
  shared[threadIdx.x] = 0;
  __syncthreads();
  shared[threadIdx.x] = threadIdx.x;
  cuda::sync_warp();
  w.words[my_word()] = shared[next_lane(w.wrong)];
}

__global__ void overwritten_in_warp(Words w) {
  cuda::begin_kernel();
  auto* const shared = reinterpret_cast<uint32_t*>(cuda::shared_memory());
  shared[threadIdx.x] = threadIdx.x;
  cuda::sync_warp();
  const uint32_t word = shared[next_lane(0)];
  if (w.wrong == 0) cuda::sync_warp();
  shared[threadIdx.x] = word;
}

__global__ void read_while_copied(Words w) {
  cuda::begin_kernel();
  unsigned char* const mine = cuda::shared_memory() + threadIdx.x * 16;
  cuda::copy_async(mine, w.words, true);
  cuda::copy_async_commit();
  if (w.wrong == 0) cuda::copy_async_wait<0>();
  emulation::read_shared(mine, 16, 16);
  cuda::copy_async_wait<0>();
}

__global__ void blocks_write_the_same(Words w) {
  cuda::begin_kernel();
  w.words[w.wrong == 0 ? my_word() : threadIdx.x] = 1;
}

__global__ void read_without_arriving(Words w) {
  cuda::begin_kernel();
  auto* const last = reinterpret_cast<uint32_t*>(cuda::shared_memory());
  w.words[my_word()] = 1;
  __syncthreads();
  if (threadIdx.x == 0) *last = cuda::arrive(w.counter, gridDim.x) || w.wrong != 0;
  __syncthreads();
  if (*last != 0) w.words[my_word()] = w.words[threadIdx.x] + w.words[kThreads + threadIdx.x];
}

__global__ void arrive_before_others_have_written(Words w) {
  cuda::begin_kernel();
  auto* const last = reinterpret_cast<uint32_t*>(cuda::shared_memory());
  w.words[my_word()] = 1;
  if (w.wrong == 0) __syncthreads();
  if (threadIdx.x == 0) *last = cuda::arrive(w.counter, gridDim.x);
  __syncthreads();
  if (*last != 0) w.words[my_word()] = w.words[(my_word() + kThreads) % (2 * kThreads)];
}

__global__ void read_ahead_of_the_last_kernel(Words w) {
  cuda::start_next_kernel();
  const uint32_t early = w.wrong != 0 ? w.words[my_word()] : 0;
  cuda::wait_for_last_kernel();
  w.words[my_word()] = early + 1;
}

__global__ void write_ahead_of_the_last_kernel(Words w) {
  cuda::start_next_kernel();
  if (w.wrong == 0) cuda::wait_for_last_kernel();
  w.words[my_word()] = 1;
  cuda::wait_for_last_kernel();
}

__global__ void behind_the_end(Words w) {
  cuda::begin_kernel();
  w.words[my_word() + (w.wrong != 0 ? kThreads : 0)] = 1;
}

__global__ void not_aligned(Words w) {
  cuda::begin_kernel();
  const auto pair = cuda::load_group<2>(w.words + (w.wrong != 0 ? 1 : 0));
  if (my_word() == 0) w.words[4] = pair.element[0];
}

__global__ void host_memory(const uint32_t* host, Words w) {
  cuda::begin_kernel();
  w.words[my_word()] = w.wrong != 0 ? *host : 1;
}

struct Planted {
  const char* name;
  void (*kernel)(Words);
  const char* error;  // that it ends with
};
constexpr Planted kPlanted[] = {
    {"shared memory is read that was not written", not_written, "which nobody has written"},
    {"a barrier is missing between writing and reading", no_barrier, "with nothing that orders the two"},
    {"a barrier is missing between reading and writing", no_barrier_after_reading,
     "with nothing that orders the two"},
    {"a barrier is missing behind a copy", copy_seen_by_its_thread_only, "with nothing that orders the two"},
    {"a barrier of the warp is missing behind a copy", copy_not_seen_by_its_warp,
     "with nothing that orders the two"},
    {"a barrier of the warp is missing between reading and writing", overwritten_in_warp,
     "with nothing that orders the two"},
    {"a barrier of the warp stands for one of the block", read_across_warps,
     "with nothing that orders the two"},
    {"a copy is not waited for", read_while_copied, "a copy of thread"},
    {"two blocks write the same", blocks_write_the_same, "another block has written"},
    {"a block reads what another may not have written", read_without_arriving, "which another block has"},
    {"a thread arrives for others before a barrier", arrive_before_others_have_written,
     "another block has written"},
    {"a kernel reads before it waits", read_ahead_of_the_last_kernel, "a kernel ahead has written"},
    {"a kernel writes before it waits", write_ahead_of_the_last_kernel,
     "before waiting for the kernel ahead"},
    {"an access is not aligned", not_aligned, "an access that is not aligned"},
    {"a kernel writes behind the end of memory", behind_the_end, "of neither shared memory nor"},
};

/// Runs `body` in a child process; what it wrote to stderr, and whether it ended well.
std::string run_apart(const std::function<void()>& body, bool* ended_well) {
  int ends[2];
  if (pipe(ends) != 0) throw Error("a test", "no pipe");
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    const rlimit none{};
    setrlimit(RLIMIT_CORE, &none);  // it is to abort
    dup2(ends[1], STDERR_FILENO);
    close(ends[0]);
    body();
    _exit(0);
  }
  close(ends[1]);
  std::string said;
  char buffer[512];
  for (ssize_t n; (n = read(ends[0], buffer, sizeof buffer)) > 0;)
    said.append(buffer, static_cast<size_t>(n));
  close(ends[0]);
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) throw Error("a test", "no child process");
  *ended_well = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  return said;
}

/// Two kernels in a row, so that one is ahead of the other.
template <class... Arguments, class... Values>
void run_twice(void (*kernel)(Arguments...), bool wrong, Values... values) {
  const auto device = std::make_shared<const cuda::Device>(0);
  device->use();
  const cuda::Memory words(device, 2 * kThreads * sizeof(uint32_t), "words");
  const cuda::Memory counter(device, sizeof(uint32_t), "a counter");
  device->clear(words.get(), words.bytes());
  device->clear(counter.get(), sizeof(uint32_t));
  for (int i = 0; i < 2; ++i)
    cuda::launch(kernel, dim3(2), kThreads, kThreads * 16, device->stream(), values...,
                 Words{words.as<uint32_t>(), counter.as<uint32_t>(), wrong ? 1u : 0u, 0});
  device->wait();
}

void finds(Checks& checks, const std::string& error, const std::function<void(bool wrong)>& body) {
  bool well = false;
  std::string said = run_apart([&] { body(false); }, &well);
  checks.that(well && said.empty(), "without the error: " + said);
  said = run_apart([&] { body(true); }, &well);
  checks.that(!well && said.find(error) != std::string::npos, "with the error: " + said);
}

}  // namespace

void check_emulation(Checks& checks, const Machine&) {
  for (const Planted& planted : kPlanted)
    checks.run(std::string("found: ") + planted.name,
               [&] { finds(checks, planted.error, [&](bool wrong) { run_twice(planted.kernel, wrong); }); });
  checks.run("found: a kernel reads memory of the host", [&] {
    const auto host = std::make_unique<uint32_t>(1);
    finds(checks, "of neither shared memory nor",
          [&](bool wrong) { run_twice(host_memory, wrong, static_cast<const uint32_t*>(host.get())); });
  });
}

}  // namespace carbon::gpu_test
