// What every isa_*.cpp begins with: intrinsics of the machine, and the names that vectors (simd_*.hpp) and
// kernels (isa.inl) use. No standard library header may be included here (see kernels.hpp).
#pragma once

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

namespace carbon::cpu {
namespace {
struct f16 {
  uint16_t bits;
};
}  // namespace
}  // namespace carbon::cpu
