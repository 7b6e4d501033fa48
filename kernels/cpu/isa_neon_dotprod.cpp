// The kernels compiled for AArch64 with Advanced SIMD (NEON) and its dot products of int8 (Armv8.2). No
// standard library header may be included here (see kernels.hpp).
#include <arm_neon.h>

#include "kernels/cpu/kernels.hpp"

#define INLINE [[gnu::always_inline]] inline

namespace carbon::cpu {
namespace {
struct f16 {
  uint16_t bits;
};
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
