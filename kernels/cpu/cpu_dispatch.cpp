// Chooses the instruction set whose kernels run on this CPU.
#include "kernels/cpu/cpu_dispatch.hpp"

#if defined(__aarch64__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#elif defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include <cstdlib>
#include <initializer_list>

#include "kernels/ops.hpp"
#include "src/base/error.hpp"

namespace carbon::cpu {
namespace {

struct IsaClass {
  const char* name;
  const Kernels& (*kernels)();
  bool (*supported)();
};

#if defined(__x86_64__) || defined(__i386__)
// What CPUID says of this CPU. __builtin_cpu_supports() would do, but finds nothing in a program that was
// compiled by clang with another library of the compiler, as in the portable archive. Numbers of bits are
// from the descriptions of CPUID and XGETBV in Intel's Software Developer's Manual, volume 2.
struct X86Features {
  bool avx2 = false, avx512 = false, avx512_vnni = false, avx512_bf16 = false, avx512_amx = false;
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
  // AMX-BF16, AMX-TILE; the shapes and contents of tiles.
  found.avx512_amx =
      found.avx512_bf16 && has_bits(features, {22, 24}) && has_bits(kept, {17, 18}) && may_use_tiles();
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

// Slowest first.
constexpr IsaClass kClasses[] = {
    {"generic", kernels_generic, [] { return true; }},
#if defined(__x86_64__) || defined(__i386__)
    {"avx2", kernels_avx2, [] { return x86_features().avx2; }},
    {"avx512", kernels_avx512, [] { return x86_features().avx512; }},
    {"avx512_vnni", kernels_avx512_vnni, [] { return x86_features().avx512_vnni; }},
    {"avx512_bf16", kernels_avx512_bf16, [] { return x86_features().avx512_bf16; }},
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

const Kernels& select_kernels(std::string_view isa) {
  std::string wanted(isa);
  if (wanted.empty()) {
    const char* const forced = std::getenv("CARBON_FORCE_ISA");
    if (forced != nullptr) wanted = forced;
  }
  if (wanted.empty()) return *supported_kernels().back();
  for (const IsaClass& c : kClasses)
    if (wanted == c.name) {
      if (c.supported()) return c.kernels();
      throw Error("cpu_isa", "this CPU does not have instruction set \"" + wanted +
                                 "\"; choose one of: " + names_of_supported());
    }
  throw Error("cpu_isa",
              "unknown instruction set \"" + wanted + "\"; choose one of: " + names_of_supported());
}

}  // namespace carbon::cpu

std::string carbon::ops::cpu_isa(const std::string& isa) {
  return cpu::select_kernels(isa).name;
}
