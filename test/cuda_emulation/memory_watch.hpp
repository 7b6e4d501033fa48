// Whether threads of a kernel touch the same memory without anything that orders them.
//
// The compiler calls a function for every read and write of the kernels (-fsanitize=thread, of which only the
// calls are used: hooks.cpp), and instructions.cuh one for those of the machine's instructions. Here is what
// was last known of each two bytes of shared and device memory: who wrote them, and who has read them since.
// A second access, one of the two a write, is an error unless CUDA's memory model orders them, in whatever
// order the emulation happened to run them:
//   - a thread's own accesses are in its order;
//   - what threads of a block did before its barrier comes before what they do after it, and so for the lanes
//     of a warp and sync_warp(). Nothing less does: a warp's lanes are not in step, and its instructions pass
//     registers on, not memory;
//   - what a thread did before arrive(), or a barrier before that, comes before what the last to arrive does,
//     and those that it meets at a barrier later;
//   - what a kernel did comes before what the next one does once it has waited for it;
//   - an asynchronous copy writes at any time until it is waited for, and for others until a barrier then.
// Errors too: to read shared memory that the block has not written, and to touch other memory than shared and
// device memory, the thread's stack and the program's constants.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace carbon::emulation {

class MemoryWatch {
 public:
  /// The thread that accesses memory.
  struct Thread {
    unsigned index = 0;
    unsigned warp_epoch = 0;  // how often its warp has met at sync_warp()
    bool waited = false;      // for the kernel ahead
  };
  enum class Kind { read, write };

  MemoryWatch();

  /// Device memory from its allocation to its end.
  void take(const void* memory, size_t bytes, int device);
  void release(const void* memory);
  /// All kernels of the device so far have ended, and whatever comes knows it.
  void wait_for_kernels(int device);

  void begin_kernel();
  /// A kernel that is not watched, from beginning to end: it writes what is here of device memory.
  void run_unwatched(const void* written, size_t bytes);
  void begin_block(const unsigned char* shared, size_t bytes);
  /// All threads of the block have met.
  void pass_barrier();
  /// `thread` has arrived at a counter of several blocks.
  void arrive(const void* counter, unsigned thread, bool last);

  /// Whether an access of other memory than the thread's stack is right; error() says what is wrong with one
  /// that is not, after which nothing is known.
  bool access(Kind kind, const void* address, size_t bytes, const Thread& thread);
  /// An asynchronous copy to shared memory, whose destination nobody may touch until it is waited for.
  bool begin_copy(const void* to, size_t bytes, const Thread& thread);
  void end_copy(const void* to, size_t bytes, const Thread& thread);
  const std::string& error() const { return error_; }

 private:
  static constexpr unsigned kLanes = 32;
  static constexpr size_t kGrain = 2;  // bytes: kernels have no smaller elements
  static constexpr uint16_t kMany = 0xffff;
  static constexpr uint32_t kManyBlocks = 0;

  /// Who has accessed a grain: one thread, or several of a block after the same barrier, or of many blocks.
  struct Access {
    uint32_t kernel = 0;      // 0: none; they count from 1
    uint32_t block = 0;       // counted through all kernels
    uint16_t epoch = 0;       // barriers that the block had passed
    uint16_t warp_epoch = 0;  // those that the warp had passed
    uint16_t thread = 0;
    uint16_t copying = 0;  // of a write: one more than the thread whose copy is under way
  };
  struct Grain {
    Access write, read;
  };
  static_assert(sizeof(Grain) == 32);
  /// Grains are all 0 until they are touched, and take memory only then.
  struct Unmap {
    size_t bytes;
    void operator()(Grain* grains) const;
  };
  using Grains = std::unique_ptr<Grain[], Unmap>;
  static Grains make_grains(size_t bytes);
  /// Device memory from `begin` on, known by where it starts.
  struct Block {
    uintptr_t begin, end;
    int device;
    Grains grains;
  };
  /// Up to which barrier a block's accesses are known to have ended, and of that one those of `thread`.
  struct Known {
    uint16_t epoch;
    uint16_t thread;
  };
  /// Since when, in the running block.
  struct Arrived {
    uint16_t epoch;
    uint16_t thread;
    std::unordered_map<uint32_t, Known> blocks;
  };
  /// Where a recent access found its block; nowhere if it begins and ends at 0.
  struct Recent {
    uintptr_t begin = 0, end = 0;
    const Block* block = nullptr;
  };
  struct Place {
    Grain* grains = nullptr;
    size_t count = 0;
    const Block* block = nullptr;  // none: shared memory
    size_t offset = 0;
  };

  /// Leaves in `place` what was accessed.
  bool access(Kind kind, const void* address, size_t bytes, const Thread& thread, Place& place);
  /// False, with what is wrong with the access in error().
  bool refuse(std::string what);
  bool refuse_place(Kind kind, const void* address, size_t bytes);
  bool has_ended(uint32_t kernel, int device) const;
  bool ordered(const Access& earlier, const Place& place, const Thread& now) const;
  static bool ordered_in_warp(const Access& earlier, const Thread& now);
  bool ordered_before_block(const Access& earlier, const Place& place, const Thread& now) const;
  bool allowed(const Grain& grain, Kind kind, const Place& place, const Thread& now) const;
  std::string explain(const Grain& grain, const Place& place, const Thread& now) const;
  void note_read(Access& read, const Thread& now) const;
  void note_write(Access& write, const Thread& now) const;
  bool find(const void* address, size_t bytes, Place* place);
  const Block* device_block(uintptr_t address);
  const Block* look_up_block(uintptr_t address);
  bool is_constant(uintptr_t address, size_t bytes) const;
  static std::string name(Kind kind, size_t bytes);
  static std::string name(Kind kind, size_t bytes, const Place& place);

  std::string error_;
  std::map<uintptr_t, Block> blocks_;
  std::array<Recent, 16> recent_{};
  size_t next_recent_ = 0;
  std::map<int, uint32_t> ended_;  // by device: the last kernel that had ended when the host last knew
  std::vector<std::pair<uintptr_t, uintptr_t>> constants_;  // the program's image and its libraries'

  uint32_t kernel_ = 0, block_ = 0;
  uint16_t epoch_ = 0;
  uintptr_t shared_ = 0;
  size_t shared_bytes_ = 0;
  std::vector<Grain> shared_grains_;
  std::map<const void*, std::unordered_map<uint32_t, Known>> counters_;  // of the kernel
  std::vector<Arrived> arrived_;                                         // of the block
};

// What follows runs for every access of every thread, and is half of the time that the tests on the emulated
// GPU take.

/// Whether an access after the same barrier of the block was one of the same warp before sync_warp().
inline bool MemoryWatch::ordered_in_warp(const Access& earlier, const Thread& now) {
  return earlier.thread / kLanes == now.index / kLanes && earlier.warp_epoch < now.warp_epoch;
}

/// Whether `earlier`, of memory that this block reaches, comes before what the thread does now.
inline bool MemoryWatch::ordered(const Access& earlier, const Place& place, const Thread& now) const {
  if (earlier.block == block_)
    return earlier.epoch < epoch_ || earlier.thread == now.index || ordered_in_warp(earlier, now);
  if (earlier.kernel < kernel_ && now.waited) return true;
  return earlier.kernel == 0 || ordered_before_block(earlier, place, now);
}

inline bool MemoryWatch::allowed(const Grain& grain, Kind kind, const Place& place, const Thread& now) const {
  if (grain.write.copying != 0 && grain.write.block == block_) return false;
  return ordered(grain.write, place, now) && (kind == Kind::read || ordered(grain.read, place, now));
}

inline void MemoryWatch::note_write(Access& write, const Thread& now) const {
  write = {kernel_, block_, epoch_, static_cast<uint16_t>(now.warp_epoch), static_cast<uint16_t>(now.index),
           0};
}

// Who reads after a barrier takes the place of those who read before it: what comes after the one comes after
// the others.
inline void MemoryWatch::note_read(Access& read, const Thread& now) const {
  const auto index = static_cast<uint16_t>(now.index), warp_epoch = static_cast<uint16_t>(now.warp_epoch);
  if (read.kernel != kernel_)
    read = {kernel_, block_, epoch_, warp_epoch, index, 0};
  else if (read.block != block_)
    read.block = kManyBlocks;
  else if (read.epoch != epoch_ || read.thread == index || ordered_in_warp(read, now))
    read.epoch = epoch_, read.warp_epoch = warp_epoch, read.thread = index;
  else
    read.thread = kMany;
}

inline const MemoryWatch::Block* MemoryWatch::device_block(uintptr_t address) {
  for (const Recent& recent : recent_)
    if (address >= recent.begin && address < recent.end) return recent.block;
  return look_up_block(address);
}

/// The grains of an access; false unless it lies in shared memory or in one block of device memory.
inline bool MemoryWatch::find(const void* address, size_t bytes, Place* place) {
  const auto at = reinterpret_cast<uintptr_t>(address);
  Grain* first = nullptr;
  uintptr_t begin = 0, end = 0;
  if (at >= shared_ && at < shared_ + shared_bytes_) {
    first = shared_grains_.data();
    begin = shared_, end = shared_ + shared_bytes_;
  } else if (const Block* const block = device_block(at)) {
    first = block->grains.get();
    place->block = block;
    begin = block->begin, end = block->end;
  }
  if (first == nullptr || at + bytes > end) return false;
  place->offset = at - begin;
  place->grains = first + place->offset / kGrain;
  place->count = (at + bytes - 1 - begin) / kGrain - place->offset / kGrain + 1;
  return true;
}

inline bool MemoryWatch::access(Kind kind, const void* address, size_t bytes, const Thread& thread) {
  Place place;
  return access(kind, address, bytes, thread, place);
}

inline bool MemoryWatch::access(Kind kind, const void* address, size_t bytes, const Thread& thread,
                                Place& place) {
  if (!find(address, bytes, &place)) return refuse_place(kind, address, bytes);
  if (kind == Kind::write && place.block != nullptr && !thread.waited)
    return refuse(name(kind, bytes, place) + " before waiting for the kernel ahead");
  // One written grain is enough: a structure is copied with the bytes between its members.
  bool written = kind == Kind::write || place.block != nullptr;
  for (size_t i = 0; i < place.count && !written; ++i) written = place.grains[i].write.block == block_;
  if (!written) return refuse(name(kind, bytes, place) + ", which nobody has written");
  for (size_t i = 0; i < place.count; ++i) {
    Grain& grain = place.grains[i];
    if (!allowed(grain, kind, place, thread))
      return refuse(name(kind, bytes, place) + explain(grain, place, thread));
    if (kind == Kind::write)
      note_write(grain.write, thread);
    else
      note_read(grain.read, thread);
  }
  return true;
}

}  // namespace carbon::emulation
