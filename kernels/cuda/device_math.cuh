// Arithmetic that several kernels share: element types, exponentials, and sums over a block in a fixed order.
//
// The files are compiled with -fmad=false, so a multiply-add is fused only where the code says so.
#pragma once

#include <type_traits>

#include "kernels/cuda/instructions.cuh"

namespace carbon::cuda {

/// Storage of bf16 and f16 elements.
struct Bf16 {
  uint16_t bits;
};
struct F16 {
  uint16_t bits;
};

__device__ inline float widen(float v) {
  return v;
}
__device__ inline float widen(Bf16 v) {
  return bits_float(static_cast<uint32_t>(v.bits) << 16);
}
/// Exact, subnormals included.
__device__ inline float widen(F16 v) {
  const uint32_t sign = static_cast<uint32_t>(v.bits & 0x8000u) << 16;
  const uint32_t exponent = (v.bits >> 10) & 0x1fu, mantissa = v.bits & 0x3ffu;
  if (exponent == 0x1f) return bits_float(sign | 0x7f800000u | (mantissa << 13));
  if (exponent != 0) return bits_float(sign | ((exponent + 112) << 23) | (mantissa << 13));
  const float magnitude = static_cast<float>(mantissa) * 5.9604644775390625e-8f;
  return sign != 0 ? -magnitude : magnitude;
}

__device__ inline void narrow(float v, float* to) {
  *to = v;
}
__device__ inline void narrow(float v, Bf16* to) {
  to->bits = static_cast<uint16_t>(pack_bf16(v, 0.0f));
}

__device__ inline void narrow(float v, F16* to) {
  to->bits = static_cast<uint16_t>(pack_f16(v, 0.0f));
}

/// Rounds two floats to bf16 or f16, to nearest even; `low` becomes the lower half.
template <class T>
__device__ inline uint32_t pack(float low, float high) {
  static_assert(std::is_same_v<T, Bf16> || std::is_same_v<T, F16>);
  if constexpr (std::is_same_v<T, F16>)
    return pack_f16(low, high);
  else
    return pack_bf16(low, high);
}

/// The sum of a product with the factor of its output, which weights of f16 have. It is a power of two, so
/// that this is exact.
template <class T>
__device__ inline float scaled(float sum, const float* scales, size_t output) {
  if constexpr (std::is_same_v<T, F16>)
    return sum * scales[output];
  else
    return sum;
}

/// Consecutive elements that one instruction reads or writes; at most 16 bytes. Its address must be a
/// multiple of its size.
template <class T, int Count>
struct alignas(sizeof(T) * Count) Group {
  T element[Count];
};
template <int Count, class T>
__device__ inline Group<T, Count> load_group(const T* from) {
  return *reinterpret_cast<const Group<T, Count>*>(from);
}
template <class T, int Count>
__device__ inline void store_group(const Group<T, Count>& group, T* to) {
  *reinterpret_cast<Group<T, Count>*>(to) = group;
}

/// 2^n for a whole number -127 < n < 128.
__device__ inline float power_of_two(float n) {
  return bits_float(static_cast<uint32_t>(static_cast<int>(n) + 127) << 23);
}

/// exp(x) with an error of about 1 ulp, by the same steps as on the CPU. Overflow gives infinity, underflow
/// is gradual, NaN stays NaN. There is no branch, so that several exponentials of a thread can overlap.
__device__ inline float exp_f32(float x) {
  const float clamped = fminf(89.0f, fmaxf(-105.0f, x));
  const float magic = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer
  const float n = fmaf(clamped, 1.44269504088896f, magic) - magic;
  const float r = fmaf(n, 2.12194440e-4f, fmaf(n, -0.693359375f, clamped));
  float p = 1.0f / 5040;
  p = fmaf(p, r, 1.0f / 720);
  p = fmaf(p, r, 1.0f / 120);
  p = fmaf(p, r, 1.0f / 24);
  p = fmaf(p, r, 1.0f / 6);
  p = fmaf(p, r, 0.5f);
  p = fmaf(r * r, p, r) + 1.0f;
  const float half = fmaf(n, 0.5f, magic) - magic;
  const float result = p * power_of_two(half) * power_of_two(n - half);
  return x != x ? x : result;
}

/// silu(gate) * up. For a large negative gate the exponential is infinite and the quotient -0, which is
/// right.
__device__ inline float swiglu(float gate, float up) {
  return gate / (1.0f + exp_f32(-gate)) * up;
}

template <class T>
__device__ inline T warp_sum(T value) {
#pragma unroll
  for (int mask = kWarp / 2; mask > 0; mask /= 2) value += shuffle_xor(value, mask);
  return value;
}

/// The sum over the threads of the block; all threads get the same value. Adds lanes by halves, then warps in
/// order. `scratch` has one value per warp, and may be used again after the next barrier.
template <int Threads, class T>
__device__ inline T block_sum(T value, T* scratch) {
  value = warp_sum(value);
  const int thread = static_cast<int>(threadIdx.x);
  if (thread % kWarp == 0) scratch[thread / kWarp] = value;
  __syncthreads();
  T total = scratch[0];
#pragma unroll
  for (int w = 1; w < Threads / kWarp; ++w) total += scratch[w];
  return total;
}

/// The largest value over the threads of the block. NaN is ignored; callers check for it.
template <int Threads>
__device__ inline float block_max(float value, float* scratch) {
#pragma unroll
  for (int mask = kWarp / 2; mask > 0; mask /= 2) value = fmaxf(value, shuffle_xor(value, mask));
  const int thread = static_cast<int>(threadIdx.x);
  if (thread % kWarp == 0) scratch[thread / kWarp] = value;
  __syncthreads();
  float total = scratch[0];
#pragma unroll
  for (int w = 1; w < Threads / kWarp; ++w) total = fmaxf(total, scratch[w]);
  return total;
}

}  // namespace carbon::cuda
