// The kernels compiled for AVX-512 F, BW, VL and DQ with AVX512_VNNI and AVX512_BF16.
#include "kernels/cpu/isa_prologue.hpp"

#define PAIRS

namespace carbon::cpu {
namespace {
namespace isa_avx512_bf16 {
#include "kernels/cpu/simd_avx512.hpp"
//
#include "kernels/cpu/isa.inl"

constexpr Kernels table = make_table("avx512_bf16");
}  // namespace isa_avx512_bf16
}  // namespace

const Kernels& kernels_avx512_bf16() {
  return isa_avx512_bf16::table;
}

}  // namespace carbon::cpu
