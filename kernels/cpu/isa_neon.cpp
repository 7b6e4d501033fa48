// The kernels compiled for AArch64 with Advanced SIMD (NEON), which every AArch64 CPU has. No standard
// library header may be included here (see kernels.hpp).
#include <arm_neon.h>

#include "kernels/cpu/kernels.hpp"

#define INLINE [[gnu::always_inline]] inline

namespace carbon::cpu {
namespace {
struct f16 {
  uint16_t bits;
};
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
