// The kernels compiled for any CPU. No standard library header may be included here (see kernels.hpp).
#include "kernels/cpu/kernels.hpp"

#define INLINE [[gnu::always_inline]] inline

namespace carbon::cpu {
namespace {
struct f16 {
  uint16_t bits;
};
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
