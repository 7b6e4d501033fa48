// The kernels compiled for AVX2, FMA and F16C. No standard library header may be included here (see
// kernels.hpp).
#include <immintrin.h>

#include "kernels/cpu/kernels.hpp"

#define INLINE [[gnu::always_inline]] inline

namespace carbon::cpu {
namespace {
struct f16 {
  uint16_t bits;
};
namespace isa_avx2 {
#include "kernels/cpu/simd_avx2.hpp"
//
#include "kernels/cpu/isa.inl"

constexpr Kernels table = make_table("avx2");
}  // namespace isa_avx2
}  // namespace

const Kernels& kernels_avx2() {
  return isa_avx2::table;
}

}  // namespace carbon::cpu
