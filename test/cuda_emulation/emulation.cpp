#include "test/cuda_emulation/emulation.hpp"

#include <dlfcn.h>
#include <setjmp.h>
#include <ucontext.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include "test/cuda_emulation/memory_watch.hpp"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

uint3 threadIdx, blockIdx;
dim3 blockDim, gridDim;

namespace carbon::emulation {
namespace {

constexpr size_t kStack = 256 * 1024;
constexpr size_t kCopy = 16;
constexpr const char* kSyncWarp = "syncwarp";

/// Whether all accesses are heard of (hooks.cpp): a few alone would say nothing.
#ifdef CARBON_EMULATION_WATCHES
constexpr bool kWatches = true;
#else
constexpr bool kWatches = false;
#endif

/// Whether this thread of the host is in a kernel's code. Every access asks for it, so that a library, too,
/// is to find it without a call.
[[gnu::tls_model("initial-exec")]] thread_local bool in_kernel = false;

/// The emulation's own accesses are not the kernel's.
class Aside {
 public:
  Aside() { in_kernel = false; }
  ~Aside() { in_kernel = was_; }
  Aside(const Aside&) = delete;
  Aside& operator=(const Aside&) = delete;

 private:
  bool was_ = in_kernel;
};

/// Of kCopy bytes.
struct Copy {
  void* to;
  const void* from;
  bool valid;
};

/// A thread of the block. Its stack is kept for the thread of that number of the next block.
struct Fiber {
  std::unique_ptr<char[]> stack{new char[kStack]};
  ucontext_t context{};
  jmp_buf resume;
  bool started = false, finished = true;
  bool waited = false;  // for the kernel ahead
  unsigned index = 0;
  size_t instructions = 0;  // of its warp, met so far
  std::deque<std::vector<Copy>> groups;
  std::vector<Copy> open_group;
};

struct Warp {
  Operands operands[2][kLanes];  // of even and of odd instructions: a lane is never two ahead
  const char* instruction = nullptr;
  std::vector<Fiber*> waiting;
  unsigned epoch = 0;  // how often its lanes have met at sync_warp()
};

class Executor {
 public:
  void run(const char* name, dim3 grid, dim3 block, size_t shared_bytes, const std::function<void()>& body);

  void barrier();
  const Operands* meet(const char* instruction, const Operands& mine);
  void sync_warp();
  void check_waited() const;
  void check_shared(const void* address, size_t bytes, size_t alignment) const;
  void watch(MemoryWatch::Kind kind, const void* address, size_t bytes, const void* code);
  void begin_copy(const Copy& copy);
  void end_copy(const Copy& copy);
  bool arrive(uint32_t* counter, uint32_t n);
  Fiber& current() { return *current_; }
  /// Not while a kernel runs.
  template <class Change>
  void change(const Change& change) {
    const std::lock_guard lock(turn_);
    change(memory_);
  }
  unsigned char* shared() { return shared_.get(); }
  /// `code`: where in the program, or null.
  [[noreturn]] void fail(const std::string& what, const void* code = nullptr) const;

 private:
  static void enter();
  [[noreturn]] void run_bodies();
  void run_block(unsigned threads);
  void resume(Fiber& fiber);
  void suspend();
  void pass_barrier();
  MemoryWatch::Thread thread() const {
    return {current_->index, warps_[current_->index / kLanes].epoch, current_->waited};
  }

  std::mutex turn_;  // of launches
  MemoryWatch memory_;
  const char* name_ = "";
  const std::function<void()>* body_ = nullptr;
  std::vector<std::unique_ptr<Fiber>> fibers_;
  std::vector<Warp> warps_;
  std::vector<Fiber*> ready_, at_barrier_;
  Fiber* current_ = nullptr;
  size_t unfinished_ = 0;
  std::unique_ptr<unsigned char[]> shared_;
  size_t shared_bytes_ = 0;
  std::mt19937 random_{20240607};
  jmp_buf scheduler_;
  ucontext_t scheduler_context_{};
};

// One for the process, as the names threadIdx and blockIdx are; launches of several threads take turns.
// It is not inside a function, because every access to memory would then ask whether it exists yet.
Executor executor;

void Executor::fail(const std::string& what, const void* code) const {
  std::fprintf(stderr, "kernel %s, block (%u, %u), thread %u: %s\n", name_, blockIdx.x, blockIdx.y,
               current_ != nullptr ? current_->index : 0, what.c_str());
  Dl_info image;
  if (code != nullptr && dladdr(code, &image) != 0)
    std::fprintf(stderr, "addr2line -Cfpie %s %#tx\n", image.dli_fname,
                 static_cast<const char*>(code) - static_cast<const char*>(image.dli_fbase) - 1);
  std::abort();
}

void Executor::run(const char* name, dim3 grid, dim3 block, size_t shared_bytes,
                   const std::function<void()>& body) {
  const std::lock_guard lock(turn_);
  memory_.begin_kernel();
  name_ = name;
  body_ = &body;
  gridDim = grid;
  blockDim = block;
  const unsigned threads = block.x;
  if (threads == 0 || threads % kLanes != 0 || threads > 1024 || block.y != 1 || block.z != 1)
    fail("a block of " + std::to_string(threads) + " threads");
  if (grid.x == 0 || grid.y == 0 || grid.z != 1 || grid.y > 65535)
    fail("a grid of " + std::to_string(grid.x) + " x " + std::to_string(grid.y));
  while (fibers_.size() < threads) {
    fibers_.push_back(std::make_unique<Fiber>());
    fibers_.back()->index = static_cast<unsigned>(fibers_.size() - 1);
  }
  shared_bytes_ = shared_bytes;
  shared_.reset(new unsigned char[shared_bytes]);
  std::vector<uint64_t> order(size_t{grid.x} * grid.y);
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::shuffle(order.begin(), order.end(), random_);
  for (const uint64_t index : order) {
    blockIdx = {static_cast<unsigned>(index % grid.x), static_cast<unsigned>(index / grid.x), 0};
    std::memset(shared_.get(), 0xff, shared_bytes);
    memory_.begin_block(shared_.get(), shared_bytes);
    run_block(threads);
  }
}

void Executor::run_block(unsigned threads) {
  warps_.clear();
  warps_.resize(threads / kLanes);
  ready_.clear();
  at_barrier_.clear();
  for (unsigned i = 0; i < threads; ++i) {
    fibers_[i]->finished = false;
    fibers_[i]->instructions = 0;
    fibers_[i]->waited = false;
    ready_.push_back(fibers_[i].get());
  }
  unfinished_ = threads;
  while (unfinished_ > 0) {
    if (ready_.empty())
      fail("deadlock: " + std::to_string(at_barrier_.size()) + " of " + std::to_string(unfinished_) +
           " threads wait at the block's barrier, the others at instructions that not all lanes reach");
    const size_t at = random_() % ready_.size();
    std::swap(ready_[at], ready_.back());
    Fiber& fiber = *ready_.back();
    ready_.pop_back();
    resume(fiber);
    if (fiber.finished) {
      --unfinished_;
      for (const std::vector<Copy>& group : fiber.groups)
        fiber.open_group.insert(fiber.open_group.end(), group.begin(), group.end());
      fiber.groups.clear();
      if (!fiber.open_group.empty()) fail("ends with copies that were not waited for");
      pass_barrier();
    }
  }
}

#if defined(__SANITIZE_ADDRESS__)

// With AddressSanitizer, which must hear of every change of stack.
void Executor::resume(Fiber& fiber) {
  current_ = &fiber;
  threadIdx = {fiber.index, 0, 0};
  if (!fiber.started) {
    fiber.started = true;
    getcontext(&fiber.context);
    fiber.context.uc_stack = {fiber.stack.get(), 0, kStack};
    fiber.context.uc_link = nullptr;
    makecontext(&fiber.context, enter, 0);
  }
  void* fake = nullptr;
  __sanitizer_start_switch_fiber(&fake, fiber.stack.get(), kStack);
  swapcontext(&scheduler_context_, &fiber.context);
  __sanitizer_finish_switch_fiber(fake, nullptr, nullptr);
}

namespace {
const void* scheduler_stack = nullptr;
size_t scheduler_stack_size = 0;
}  // namespace

void Executor::suspend() {
  void* fake = nullptr;
  Fiber* const self = current_;
  __sanitizer_start_switch_fiber(&fake, scheduler_stack, scheduler_stack_size);
  swapcontext(&self->context, &scheduler_context_);
  __sanitizer_finish_switch_fiber(fake, &scheduler_stack, &scheduler_stack_size);
}

void Executor::enter() {
  __sanitizer_finish_switch_fiber(nullptr, &scheduler_stack, &scheduler_stack_size);
  executor.run_bodies();
}

#else

// The first entry is by ucontext; after that jumps, which save no signal mask, are ten times quicker.
void Executor::resume(Fiber& fiber) {
  current_ = &fiber;
  threadIdx = {fiber.index, 0, 0};
  if (_setjmp(scheduler_) != 0) return;
  if (fiber.started) _longjmp(fiber.resume, 1);
  fiber.started = true;
  getcontext(&fiber.context);
  fiber.context.uc_stack.ss_sp = fiber.stack.get();
  fiber.context.uc_stack.ss_size = kStack;
  fiber.context.uc_link = nullptr;
  makecontext(&fiber.context, enter, 0);
  setcontext(&fiber.context);
}

void Executor::suspend() {
  if (_setjmp(current_->resume) == 0) _longjmp(scheduler_, 1);
}

void Executor::enter() {
  executor.run_bodies();
}

#endif

void Executor::run_bodies() {
  for (;;) {
    (*body_)();
    check_waited();
    current_->finished = true;
    suspend();
  }
}

void Executor::check_waited() const {
  if (!current_->waited) fail("goes on or ends without having waited for the kernel ahead");
}

// The barrier opens when all threads that have not ended wait there; one that ended early is an error then,
// as some devices wait for it.
void Executor::pass_barrier() {
  if (at_barrier_.empty() || at_barrier_.size() < unfinished_) return;
  if (unfinished_ != blockDim.x) fail("a barrier that ended threads do not reach");
  memory_.pass_barrier();
  ready_.insert(ready_.end(), at_barrier_.begin(), at_barrier_.end());
  at_barrier_.clear();
}

void Executor::barrier() {
  check_waited();
  at_barrier_.push_back(current_);
  pass_barrier();
  suspend();
}

const Operands* Executor::meet(const char* instruction, const Operands& mine) {
  Fiber& self = *current_;
  Warp& warp = warps_[self.index / kLanes];
  Operands* const all = warp.operands[self.instructions++ % 2];
  all[self.index % kLanes] = mine;
  if (warp.waiting.empty())
    warp.instruction = instruction;
  else if (std::strcmp(warp.instruction, instruction) != 0)
    fail(std::string("is at ") + instruction + " while its warp is at " + warp.instruction);
  warp.waiting.push_back(&self);
  if (warp.waiting.size() == kLanes) {
    if (std::strcmp(instruction, kSyncWarp) == 0) ++warp.epoch;
    ready_.insert(ready_.end(), warp.waiting.begin(), warp.waiting.end());
    warp.waiting.clear();
  }
  suspend();
  return all;
}

void Executor::sync_warp() {
  check_waited();
  meet(kSyncWarp, {});
}

void Executor::check_shared(const void* address, size_t bytes, size_t alignment) const {
  const auto* const at = static_cast<const unsigned char*>(address);
  if (at < shared_.get() || at + bytes > shared_.get() + shared_bytes_)
    fail("reaches outside its " + std::to_string(shared_bytes_) + " bytes of shared memory, at " +
         std::to_string(at - shared_.get()));
  if (static_cast<size_t>(at - shared_.get()) % alignment != 0)
    fail("a misaligned access to shared memory at " + std::to_string(at - shared_.get()));
}

void Executor::watch(MemoryWatch::Kind kind, const void* address, size_t bytes, const void* code) {
  if (!kWatches) return;
  const auto* const at = static_cast<const char*>(address);
  const char* const stack = current_->stack.get();
  if (at >= stack && at + bytes <= stack + kStack) return;
  if (memory_.access(kind, address, bytes, thread())) return;
  fail(memory_.error(), code);
}

void Executor::begin_copy(const Copy& copy) {
  if (copy.valid) watch(MemoryWatch::Kind::read, copy.from, kCopy, nullptr);
  if (kWatches && !memory_.begin_copy(copy.to, kCopy, thread())) fail("a copy " + memory_.error());
  current_->open_group.push_back(copy);
}

void Executor::end_copy(const Copy& copy) {
  if (copy.valid)
    std::memcpy(copy.to, copy.from, kCopy);
  else
    std::memset(copy.to, 0, kCopy);
  memory_.end_copy(copy.to, kCopy, thread());
}

bool Executor::arrive(uint32_t* counter, uint32_t n) {
  check_waited();
  const bool last = *counter >= n - 1;
  *counter = last ? 0 : *counter + 1;
  memory_.arrive(counter, current_->index, last);
  return last;
}

}  // namespace

void run_grid(const char* name, dim3 grid, dim3 block, size_t shared_bytes,
              const std::function<void()>& body) {
  executor.run(name, grid, block, shared_bytes, body);
}

const Operands* meet(const char* instruction, const Operands& mine) {
  const Aside aside;
  return executor.meet(instruction, mine);
}

void sync_warp() {
  const Aside aside;
  executor.sync_warp();
}

size_t lane() {
  return threadIdx.x % kLanes;
}

unsigned char* shared_memory() {
  return executor.shared();
}

void read_shared(const void* address, size_t bytes, size_t alignment) {
  const Aside aside;
  executor.check_shared(address, bytes, alignment);
  executor.watch(MemoryWatch::Kind::read, address, bytes, __builtin_return_address(0));
}

void wait_for_last_kernel() {
  executor.current().waited = true;
}

void touch(const void* address) {
  static_cast<void>(*static_cast<const volatile unsigned char*>(address));
}

bool arrive(uint32_t* counter, uint32_t n) {
  const Aside aside;
  return executor.arrive(counter, n);
}

void copy_async(void* to, const void* from, bool valid) {
  const Aside aside;
  executor.check_waited();
  executor.check_shared(to, kCopy, kCopy);
  if (reinterpret_cast<uintptr_t>(from) % kCopy != 0) executor.fail("a misaligned source of a copy");
  executor.begin_copy({to, from, valid});
}

void copy_async_commit() {
  const Aside aside;
  Fiber& self = executor.current();
  self.groups.push_back(std::move(self.open_group));
  self.open_group.clear();
}

void copy_async_wait(size_t pending) {
  const Aside aside;
  Fiber& self = executor.current();
  for (; self.groups.size() > pending; self.groups.pop_front())
    for (const Copy& copy : self.groups.front()) executor.end_copy(copy);
}

void enter_kernel() {
  in_kernel = true;
}
void leave_kernel() {
  in_kernel = false;
}

void watch_read(const void* address, size_t bytes, const void* code) {
  if (!in_kernel) return;
  const Aside aside;
  executor.watch(MemoryWatch::Kind::read, address, bytes, code);
}
void watch_write(const void* address, size_t bytes, const void* code) {
  if (!in_kernel) return;
  const Aside aside;
  executor.watch(MemoryWatch::Kind::write, address, bytes, code);
}

void fail(const std::string& what, const void* code) {
  const Aside aside;
  executor.fail(what, code);
}

void take_memory(const void* memory, size_t bytes, int device) {
  executor.change([&](MemoryWatch& watch) { watch.take(memory, bytes, device); });
}
void release_memory(const void* memory) {
  executor.change([&](MemoryWatch& watch) { watch.release(memory); });
}
void wait_for_kernels(int device) {
  executor.change([&](MemoryWatch& watch) { watch.wait_for_kernels(device); });
}

void library_wrote(const void* memory, size_t bytes) {
  executor.change([&](MemoryWatch& watch) { watch.run_unwatched(memory, bytes); });
}

}  // namespace carbon::emulation

void __syncthreads() {
  const carbon::emulation::Aside aside;
  carbon::emulation::executor.barrier();
}
