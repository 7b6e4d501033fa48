// The kernels compiled for AVX-512 F, BW, VL and DQ with AVX512_VNNI, AVX512_BF16, AMX_TILE and AMX_BF16.
#include "kernels/cpu/isa_prologue.hpp"

#define PAIRS
#define TILES

namespace carbon::cpu {
namespace {
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
