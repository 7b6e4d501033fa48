// The kernels compiled for AVX-512 F, BW, VL and DQ.
#include "kernels/cpu/isa_prologue.hpp"

namespace carbon::cpu {
namespace {
namespace isa_avx512 {
#include "kernels/cpu/simd_avx512.hpp"
//
#include "kernels/cpu/isa.inl"

constexpr Kernels table = make_table("avx512");
}  // namespace isa_avx512
}  // namespace

const Kernels& kernels_avx512() {
  return isa_avx512::table;
}

}  // namespace carbon::cpu
