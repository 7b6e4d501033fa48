// The kernels compiled for AArch64 with Advanced SIMD (NEON), which every AArch64 CPU has.
#include "kernels/cpu/isa_prologue.hpp"

namespace carbon::cpu {
namespace {
namespace isa_neon {
#include "kernels/cpu/simd_neon.hpp"
//
#include "kernels/cpu/isa.inl"

constexpr Kernels table = make_table("neon");
}  // namespace isa_neon
}  // namespace

const Kernels& kernels_neon() {
  return isa_neon::table;
}

}  // namespace carbon::cpu
