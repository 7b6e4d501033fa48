#include "test/cuda_emulation/memory_watch.hpp"

#include <link.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace carbon::emulation {
namespace {

int add_image(dl_phdr_info* image, size_t, void* ranges) {
  for (int i = 0; i < image->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = image->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD) continue;
    const uintptr_t begin = image->dlpi_addr + segment.p_vaddr;
    static_cast<std::vector<std::pair<uintptr_t, uintptr_t>>*>(ranges)->emplace_back(begin,
                                                                                     begin + segment.p_memsz);
  }
  return 0;
}

}  // namespace

MemoryWatch::MemoryWatch() {
  dl_iterate_phdr(add_image, &constants_);
}

void MemoryWatch::Unmap::operator()(Grain* grains) const {
  munmap(grains, bytes);
}

// Sixteen times the memory that it is for, of which only touched pages exist.
MemoryWatch::Grains MemoryWatch::make_grains(size_t bytes) {
  const size_t size = std::max<size_t>((bytes + kGrain - 1) / kGrain, 1) * sizeof(Grain);
  void* const memory =
      mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    std::perror("emulated GPU: no address space to watch memory");
    std::abort();
  }
  return Grains(static_cast<Grain*>(memory), Unmap{size});
}

void MemoryWatch::take(const void* memory, size_t bytes, int device) {
  const auto begin = reinterpret_cast<uintptr_t>(memory);
  blocks_.insert_or_assign(begin, Block{begin, begin + bytes, device, make_grains(bytes)});
  recent_.fill({});
}

void MemoryWatch::release(const void* memory) {
  blocks_.erase(reinterpret_cast<uintptr_t>(memory));
  recent_.fill({});
}

void MemoryWatch::wait_for_kernels(int device) {
  ended_[device] = kernel_;
}

void MemoryWatch::begin_kernel() {
  ++kernel_;
  counters_.clear();
}

void MemoryWatch::run_unwatched(const void* written, size_t bytes) {
  begin_kernel();
  begin_block(nullptr, 0);
  Place place;
  find(written, bytes, &place);
  for (size_t i = 0; i < place.count; ++i) note_write(place.grains[i].write, Thread{});
}

void MemoryWatch::begin_block(const unsigned char* shared, size_t bytes) {
  ++block_;
  epoch_ = 0;
  arrived_.clear();
  shared_ = reinterpret_cast<uintptr_t>(shared);
  shared_bytes_ = bytes;
  const size_t grains = (bytes + kGrain - 1) / kGrain;
  if (shared_grains_.size() < grains) shared_grains_.resize(grains);
}

void MemoryWatch::pass_barrier() {
  if (++epoch_ == 0) {
    std::fprintf(stderr, "emulated GPU: more barriers in a block than are counted\n");
    std::abort();
  }
}

void MemoryWatch::arrive(const void* counter, unsigned thread, bool last) {
  auto& blocks = counters_[counter];
  blocks[block_] = {epoch_, static_cast<uint16_t>(thread)};
  if (!last) return;
  arrived_.push_back({epoch_, static_cast<uint16_t>(thread), std::move(blocks)});
  counters_.erase(counter);
}

/// Whether the host has known, since the kernel, that the device's kernels had ended.
bool MemoryWatch::has_ended(uint32_t kernel, int device) const {
  const auto at = ended_.find(device);
  return at != ended_.end() && kernel <= at->second;
}

/// ordered() for what another block has done, or a kernel that the thread has not waited for.
bool MemoryWatch::ordered_before_block(const Access& earlier, const Place& place, const Thread& now) const {
  if (place.block == nullptr) return true;  // another block's shared memory, at the same address
  if (earlier.kernel != kernel_) return has_ended(earlier.kernel, place.block->device);
  for (const Arrived& since : arrived_) {
    if (since.thread != now.index && since.epoch == epoch_) continue;  // no barrier yet
    const auto known = since.blocks.find(earlier.block);
    if (known == since.blocks.end()) continue;
    if (earlier.epoch < known->second.epoch) return true;
    if (earlier.epoch == known->second.epoch && earlier.thread == known->second.thread) return true;
  }
  return false;
}

/// What is wrong with an access that is not allowed.
std::string MemoryWatch::explain(const Grain& grain, const Place& place, const Thread& now) const {
  if (grain.write.copying != 0 && grain.write.block == block_)
    return ", into which a copy of thread " + std::to_string(grain.write.copying - 1) + " is under way";
  const bool written = !ordered(grain.write, place, now);
  const Access& earlier = written ? grain.write : grain.read;
  const std::string did = written ? " has written" : " has read";
  if (earlier.kernel != kernel_) return ", which a kernel ahead" + did + ", before waiting for it";
  const std::string who = earlier.block != block_   ? "another block"
                          : earlier.thread == kMany ? "other threads"
                                                    : "thread " + std::to_string(earlier.thread);
  return ", which " + who + did + " with nothing that orders the two";
}

const MemoryWatch::Block* MemoryWatch::look_up_block(uintptr_t address) {
  auto at = blocks_.upper_bound(address);
  if (at == blocks_.begin()) return nullptr;
  --at;
  if (address >= at->second.end) return nullptr;
  next_recent_ = (next_recent_ + 1) % recent_.size();
  recent_[next_recent_] = {at->second.begin, at->second.end, &at->second};
  return &at->second;
}

bool MemoryWatch::is_constant(uintptr_t address, size_t bytes) const {
  return std::any_of(constants_.begin(), constants_.end(), [&](const auto& range) {
    return address >= range.first && address + bytes <= range.second;
  });
}

std::string MemoryWatch::name(Kind kind, size_t bytes) {
  return std::string(kind == Kind::read ? "reads " : "writes ") + std::to_string(bytes) + " bytes";
}
std::string MemoryWatch::name(Kind kind, size_t bytes, const Place& place) {
  return name(kind, bytes) + " at " + std::to_string(place.offset) +
         (place.block == nullptr ? " of shared memory" : " of a block of device memory");
}

bool MemoryWatch::refuse(std::string what) {
  error_ = std::move(what);
  return false;
}

/// Of an access of neither shared memory nor one block of device memory; constants may be read.
bool MemoryWatch::refuse_place(Kind kind, const void* address, size_t bytes) {
  if (kind == Kind::read && is_constant(reinterpret_cast<uintptr_t>(address), bytes)) return true;
  return refuse(name(kind, bytes) + " of neither shared memory nor one block of device memory");
}

bool MemoryWatch::begin_copy(const void* to, size_t bytes, const Thread& thread) {
  Place place;
  if (!access(Kind::write, to, bytes, thread, place)) return false;
  for (size_t i = 0; i < place.count; ++i)
    place.grains[i].write.copying = static_cast<uint16_t>(thread.index + 1);
  return true;
}

void MemoryWatch::end_copy(const void* to, size_t bytes, const Thread& thread) {
  Place place;
  find(to, bytes, &place);
  for (size_t i = 0; i < place.count; ++i) note_write(place.grains[i].write, thread);
}

}  // namespace carbon::emulation
