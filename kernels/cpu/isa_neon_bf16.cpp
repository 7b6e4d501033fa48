// The kernels compiled for AArch64 with BF16 (Armv8.6) and dot products of int8. No standard library header
// may be included here (see kernels.hpp).
#include <arm_neon.h>

#include "kernels/cpu/kernels.hpp"

#define INLINE [[gnu::always_inline]] inline
#define PAIRS

namespace carbon::cpu {
namespace {
struct f16 {
  uint16_t bits;
};
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
