// The kernels compiled for AVX-512 F, BW, VL and DQ with AVX512_VNNI, AVX512_BF16, AMX_TILE and AMX_BF16. No
// standard library header may be included here (see kernels.hpp).
//
// GCC 12 warns of undefined operands in its own AVX-512 header (GCC bug 105593).
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>

#include "kernels/cpu/kernels.hpp"

#define INLINE [[gnu::always_inline]] inline
#define PAIRS
#define TILES

namespace carbon::cpu {
namespace {
struct f16 {
  uint16_t bits;
};
namespace isa_avx512_amx {
#include "kernels/cpu/simd_avx512.hpp"
//
#include "kernels/cpu/isa.inl"

constexpr Kernels table = make_table("avx512_amx");
}  // namespace isa_avx512_amx
}  // namespace

const Kernels& kernels_avx512_amx() {
  return isa_avx512_amx::table;
}

}  // namespace carbon::cpu
