// The kernels compiled for AVX-512 F, BW, VL and DQ with AVX512_VNNI.
#include "kernels/cpu/isa_prologue.hpp"

namespace carbon::cpu {
namespace {
namespace isa_avx512_vnni {
#include "kernels/cpu/simd_avx512.hpp"
//
#include "kernels/cpu/isa.inl"

constexpr Kernels table = make_table("avx512_vnni");
}  // namespace isa_avx512_vnni
}  // namespace

const Kernels& kernels_avx512_vnni() {
  return isa_avx512_vnni::table;
}

}  // namespace carbon::cpu
