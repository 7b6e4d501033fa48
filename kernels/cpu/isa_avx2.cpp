// The kernels compiled for AVX2, FMA and F16C.
#include "kernels/cpu/isa_prologue.hpp"

namespace carbon::cpu {
namespace {
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
