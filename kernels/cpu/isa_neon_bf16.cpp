// The kernels compiled for AArch64 with BF16 (Armv8.6) and dot products of int8.
#include "kernels/cpu/isa_prologue.hpp"

#define PAIRS

namespace carbon::cpu {
namespace {
namespace isa_neon_bf16 {
#include "kernels/cpu/simd_neon.hpp"
//
#include "kernels/cpu/isa.inl"

constexpr Kernels table = make_table("neon_bf16");
}  // namespace isa_neon_bf16
}  // namespace

const Kernels& kernels_neon_bf16() {
  return isa_neon_bf16::table;
}

}  // namespace carbon::cpu
