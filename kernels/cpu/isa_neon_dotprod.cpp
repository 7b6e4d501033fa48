// The kernels compiled for AArch64 with Advanced SIMD (NEON) and its dot products of int8 (Armv8.2).
#include "kernels/cpu/isa_prologue.hpp"

namespace carbon::cpu {
namespace {
namespace isa_neon_dotprod {
#include "kernels/cpu/simd_neon.hpp"
//
#include "kernels/cpu/isa.inl"

constexpr Kernels table = make_table("neon_dotprod");
}  // namespace isa_neon_dotprod
}  // namespace

const Kernels& kernels_neon_dotprod() {
  return isa_neon_dotprod::table;
}

}  // namespace carbon::cpu
