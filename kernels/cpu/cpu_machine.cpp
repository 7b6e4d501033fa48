// What the CPU of this machine can do: its instruction set, and its limits.
#include "kernels/cpu/cpu_machine.hpp"

#if defined(__aarch64__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#elif defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include <array>
#include <atomic>
#include <barrier>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <numeric>
#include <utility>

#include "kernels/ops.hpp"
#include "src/base/error.hpp"
#include "src/base/system.hpp"

namespace carbon::cpu {
namespace {

struct IsaClass {
  const char* name;
  const Kernels& (*kernels)();
  bool (*supported)();
  bool (*slow)() = [] { return false; };  // slower on this CPU than the one before
};

#if defined(__x86_64__) || defined(__i386__)
// What CPUID says of this CPU. __builtin_cpu_supports() would do, but finds nothing in a program that was
// compiled by clang with another library of the compiler, as in the portable archive. Numbers of bits are
// from the descriptions of CPUID and XGETBV in Intel's Software Developer's Manual, volume 2.
struct X86Features {
  bool avx2 = false, avx512 = false, avx512_vnni = false, avx512_bf16 = false, avx512_amx = false;
  /// Whether the CPU takes longer for products of bf16 pairs than for the same ones in f32. Intel's since
  /// Sapphire Rapids do, which AVX512_FP16 tells: on a Xeon of family 6, model 207, half the multiply-adds
  /// per second (bench/results/cpu.md). They are meant to use tiles, but a virtual machine may not have them.
  bool slow_pairs = false;
};

constexpr bool has_bits(unsigned value, std::initializer_list<int> bits) {
  for (const int bit : bits)
    if ((value >> bit & 1) == 0) return false;
  return true;
}

// Asks the system, from which a process has the registers of tiles only on request (Linux,
// Documentation/arch/x86/xstate.rst). False if it is too old, or refuses.
bool may_use_tiles() {
#if defined(__x86_64__)
  constexpr long kRequest = 0x1023, kTileData = 18;  // ARCH_REQ_XCOMP_PERM
  return syscall(SYS_arch_prctl, kRequest, kTileData) == 0;
#else
  return false;
#endif
}

bool is_intel() {
  unsigned most = 0, name[3] = {};  // GenuineIntel, in ebx, edx, ecx
  return __get_cpuid(0, &most, &name[0], &name[2], &name[1]) &&
         std::memcmp(name, "GenuineIntel", sizeof name) == 0;
}

X86Features read_x86_features() {
  X86Features found;
  unsigned a = 0, b = 0, c = 0, d = 0;
  // FMA, OSXSAVE, AVX, F16C.
  if (!__get_cpuid(1, &a, &b, &c, &d) || !has_bits(c, {12, 27, 28, 29})) return found;
  // The registers that the system keeps for each process: SSE and AVX; masks and both parts of AVX-512.
  unsigned kept = 0, kept_high = 0;
  asm("xgetbv" : "=a"(kept), "=d"(kept_high) : "c"(0));
  if (!has_bits(kept, {1, 2}) || !__get_cpuid_count(7, 0, &a, &b, &c, &d)) return found;
  const unsigned subleaves = a, features = d;
  found.avx2 = has_bits(b, {5});
  // AVX512F, DQ, BW, VL.
  found.avx512 = found.avx2 && has_bits(kept, {5, 6, 7}) && has_bits(b, {16, 17, 30, 31});
  found.avx512_vnni = found.avx512 && has_bits(c, {11});
  if (subleaves >= 1 && __get_cpuid_count(7, 1, &a, &b, &c, &d))
    found.avx512_bf16 = found.avx512_vnni && has_bits(a, {5});
  found.slow_pairs = is_intel() && has_bits(features, {23});
  // AMX-BF16, AMX-TILE; the shapes and contents of tiles.
  found.avx512_amx =
      found.avx512_bf16 && has_bits(features, {22, 24}) && has_bits(kept, {17, 18}) && may_use_tiles();
#ifdef CARBON_TILES_IN_MEMORY  // for tests (test/unit/tiles_in_memory.hpp)
  found.avx512_amx = found.avx512_bf16;
#endif
  return found;
}

const X86Features& x86_features() {
  static const X86Features features = read_x86_features();
  return features;
}
#elif defined(__aarch64__)
bool has_neon() {
  return (getauxval(AT_HWCAP) & HWCAP_ASIMD) != 0;
}
bool has_neon_dotprod() {
  return has_neon() && (getauxval(AT_HWCAP) & HWCAP_ASIMDDP) != 0;
}
bool has_neon_bf16() {
  return has_neon_dotprod() && (getauxval(AT_HWCAP2) & HWCAP2_BF16) != 0;
}
#endif

// Slowest first, but for those that are slow.
constexpr IsaClass kClasses[] = {
    {"generic", kernels_generic, [] { return true; }},
#if defined(__x86_64__) || defined(__i386__)
    {"avx2", kernels_avx2, [] { return x86_features().avx2; }},
    {"avx512", kernels_avx512, [] { return x86_features().avx512; }},
    {"avx512_vnni", kernels_avx512_vnni, [] { return x86_features().avx512_vnni; }},
    {"avx512_bf16", kernels_avx512_bf16, [] { return x86_features().avx512_bf16; },
     [] { return x86_features().slow_pairs; }},
#if defined(__x86_64__)
    {"avx512_amx", kernels_avx512_amx, [] { return x86_features().avx512_amx; }},
#endif
#elif defined(__aarch64__)
    {"neon", kernels_neon, has_neon},
    {"neon_dotprod", kernels_neon_dotprod, has_neon_dotprod},
    {"neon_bf16", kernels_neon_bf16, has_neon_bf16},
#endif
};

std::string names_of_supported() {
  std::string names;
  for (const Kernels* k : supported_kernels()) names += (names.empty() ? "" : ", ") + std::string(k->name);
  return names;
}

}  // namespace

std::vector<std::string> known_isas() {
  std::vector<std::string> names;
  for (const IsaClass& c : kClasses) names.emplace_back(c.name);
  return names;
}

std::vector<const Kernels*> supported_kernels() {
  std::vector<const Kernels*> result;
  for (const IsaClass& c : kClasses)
    if (c.supported()) result.push_back(&c.kernels());
  return result;
}

namespace {

const Kernels& fastest_kernels() {
  const Kernels* fastest = &kernels_generic();
  for (const IsaClass& c : kClasses)
    if (c.supported() && !c.slow()) fastest = &c.kernels();
  return *fastest;
}

}  // namespace

const Kernels& select_kernels(std::string_view isa) {
  std::string wanted(isa);
  if (wanted.empty()) {
    const char* const forced = std::getenv("CARBON_FORCE_ISA");
    if (forced != nullptr) wanted = forced;
  }
  if (wanted.empty()) return fastest_kernels();
  for (const IsaClass& c : kClasses)
    if (wanted == c.name) {
      if (c.supported()) return c.kernels();
      throw Error("cpu_isa", "this CPU does not have instruction set \"" + wanted +
                                 "\"; choose one of: " + names_of_supported());
    }
  throw Error("cpu_isa",
              "unknown instruction set \"" + wanted + "\"; choose one of: " + names_of_supported());
}

namespace {

// A vector that every CPU has.
using Vector __attribute__((vector_size(16))) = uint64_t;

// Half of the memory has this many pieces, which are distributed to the threads.
constexpr size_t kPieces = 256, kPiece = MemoryLimits::kBytes / 2 / kPieces;
constexpr size_t kStreams = 4;

// The shortest time of a measurement.
constexpr double kLeastSeconds = 0.2;

// Calls f(thread) once on each thread of the pool, at the same time.
template <class F>
void each_thread(ThreadPool& pool, F f) {
  const auto threads = static_cast<size_t>(pool.size());
  // A thread that waits here takes no second piece.
  std::barrier all(static_cast<ptrdiff_t>(threads));
  pool.run(threads, [&](size_t, size_t thread) {
    all.arrive_and_wait();
    f(thread);
  });
}

// The part [first, second) of a range [0, n) that a thread has.
std::pair<size_t, size_t> share(const ThreadPool& pool, size_t thread, size_t n) {
  const auto threads = static_cast<size_t>(pool.size());
  return {n * thread / threads, n * (thread + 1) / threads};
}

// Bytes per second of f, which reads or writes each byte of the memory once.
template <class F>
double rate(F f) {
  const Stopwatch watch;
  double done = 0, seconds = 0;
  do {
    f();
    done += static_cast<double>(MemoryLimits::kBytes);
    seconds = watch.seconds();
  } while (seconds < kLeastSeconds);
  return done / seconds;
}

// Reads kStreams pieces at the same time, which was faster than one after the other on the machines tried.
uint64_t read_streams(const char* pieces) {
  Vector sums[kStreams] = {};
  for (size_t i = 0; i < kPiece / sizeof(Vector); ++i)
#pragma GCC unroll 4
    for (size_t s = 0; s < kStreams; ++s) sums[s] ^= reinterpret_cast<const Vector*>(pieces + s * kPiece)[i];
  const Vector sum = (sums[0] ^ sums[1]) ^ (sums[2] ^ sums[3]);
  return sum[0] ^ sum[1];
}

}  // namespace

MemoryLimits::MemoryLimits(int threads) : pool_(threads), memory_(allocate_aligned("memory_limits", kBytes)) {
  // Written by the threads that will read it, so that it is allocated near them. Memory that was never
  // written would be one page of zeros.
  char* const data = static_cast<char*>(memory_.get());
  each_thread(pool_, [&](size_t thread) {
    const auto [begin, end] = share(pool_, thread, 2 * kPieces);
    std::memset(data + begin * kPiece, 1, (end - begin) * kPiece);
  });
}

double MemoryLimits::read_rate() {
  const char* const data = static_cast<const char*>(memory_.get());
  return rate([&] {
    std::atomic<uint64_t> all = 0;
    each_thread(pool_, [&](size_t thread) {
      const auto [begin, end] = share(pool_, thread, 2 * kPieces / kStreams);
      uint64_t mine = 0;
      for (size_t i = begin; i < end; ++i) mine ^= read_streams(data + i * kStreams * kPiece);
      all ^= mine;
    });
    // Stored so that the compiler does not remove the sum as unused.
    const uint64_t sum = all;
    std::memcpy(memory_.get(), &sum, sizeof sum);
  });
}

double MemoryLimits::copy_rate() {
  char* const data = static_cast<char*>(memory_.get());
  return rate([&] {
    each_thread(pool_, [&](size_t thread) {
      const auto [begin, end] = share(pool_, thread, kPieces);
      for (size_t i = begin; i < end; ++i)
        std::memcpy(data + (kPieces + i) * kPiece, data + i * kPiece, kPiece);
    });
  });
}

double multiply_add_rate(WeightType type, int threads) {
  constexpr size_t kRounds = 1 << 16;
  const Kernels& kernels = select_kernels("");
  ThreadPool pool(threads);
  std::vector<double> rates(static_cast<size_t>(threads));
  each_thread(pool, [&](size_t thread) {
    alignas(64) std::array<float, kPeakValues> values;
    // A number that is small enough for sums not to overflow, and not near subnormal numbers. It is also read
    // as a pair of bf16.
    values.fill(0x1.01p-20f);
    double done = 0, seconds = 0;
    const Stopwatch watch;
    do {
      done += 2 * static_cast<double>(kernels.multiply_adds(type, kRounds, values.data()));
      seconds = watch.seconds();
    } while (seconds < kLeastSeconds);
    rates[thread] = done / seconds;
  });
  return std::reduce(rates.begin(), rates.end());
}

}  // namespace carbon::cpu

std::string carbon::ops::cpu_isa(const std::string& isa) {
  return cpu::select_kernels(isa).name;
}
