// Chooses the instruction set whose kernels run on this CPU.
#include "kernels/cpu/cpu_dispatch.hpp"

#if defined(__aarch64__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

#include <cstdlib>

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
// Older compilers cannot ask for F16C, but every CPU with AVX2 and FMA has it.
bool has_avx2() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}
bool has_avx512() {
  return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
}
bool has_avx512_vnni() {
  return has_avx512() && __builtin_cpu_supports("avx512vnni");
}
bool has_avx512_bf16() {
  return has_avx512_vnni() && __builtin_cpu_supports("avx512bf16");
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
    {"avx2", kernels_avx2, has_avx2},
    {"avx512", kernels_avx512, has_avx512},
    {"avx512_vnni", kernels_avx512_vnni, has_avx512_vnni},
    {"avx512_bf16", kernels_avx512_bf16, has_avx512_bf16},
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
