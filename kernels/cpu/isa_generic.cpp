// The kernels compiled for any CPU.
#include "kernels/cpu/isa_prologue.hpp"

namespace carbon::cpu {
namespace {
namespace isa_generic {
#include "kernels/cpu/simd_generic.hpp"
//
#include "kernels/cpu/isa.inl"

constexpr Kernels table = make_table("generic");
}  // namespace isa_generic
}  // namespace

const Kernels& kernels_generic() {
  return isa_generic::table;
}

}  // namespace carbon::cpu
