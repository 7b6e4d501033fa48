// The kernels of the CPU. make compiles this text for every instruction set alone (mk/flags.mk): ISA is its
// name, VECTORS the header with its vectors (simd_*.hpp); PAIRS is defined if it multiplies pairs of bf16,
// and TILES if it does so in tiles. No standard library header may be included here (see kernels.hpp).

// GCC 12 warns of undefined operands in its own AVX-512 header (GCC bug 105593), wherever that is used.
#if defined(__x86_64__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#include "kernels/cpu/kernels.hpp"

#define INLINE [[gnu::always_inline]] inline

// A vector that an asm statement reads and writes, in a register where it is known what they are called.
#if defined(__SSE2__)
#define VECTOR_OPERAND "+v"
#elif defined(__aarch64__)
#define VECTOR_OPERAND "+w"
#else
#define VECTOR_OPERAND "+m"
#endif

// The names of this instruction set's namespace and function.
#define JOINED_(a, b) a##b
#define JOINED(a, b) JOINED_(a, b)
#define ISA_NAMESPACE JOINED(isa_, ISA)
#define ISA_FUNCTION JOINED(kernels_, ISA)
#define TEXT_OF_(name) #name
#define TEXT_OF(name) TEXT_OF_(name)

namespace carbon::cpu {
namespace {

struct f16 {
  uint16_t bits;
};

namespace ISA_NAMESPACE {
#include VECTORS
// All kernels, in the order in which they use one another.
#include "kernels/cpu/kernels.inl"
//
#include "kernels/cpu/linear.inl"
//
#ifdef TILES
#include "kernels/cpu/amx.inl"
#endif
//
#include "kernels/cpu/linear_int8.inl"
//
#include "kernels/cpu/attention.inl"

constexpr Kernels table = {TEXT_OF(ISA),
                           kPanelOutputs,
                           kTileHeights,
                           kPairs,
                           linear,
                           arranges,
                           arrange,
                           {kInt8Group, kInt8Offset, sizeof(ActBlock)},
                           round_activations,
                           round_weights,
                           widen,
                           narrow,
                           add_rows,
                           norm,
                           swiglu,
                           append_kv,
                           attention_scratch,
                           attention,
                           finite_max,
                           exp_shifted,
                           multiply_adds};
}  // namespace ISA_NAMESPACE

}  // namespace

const Kernels& ISA_FUNCTION() {
  return ISA_NAMESPACE::table;
}

}  // namespace carbon::cpu
