// Element types and a view of a matrix in host memory.
//
// What every room that touches weights shares; knows nothing of files, devices or DNA.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace carbon {

enum class DType : uint8_t { f32, bf16, f16 };

constexpr size_t dtype_size(DType t) {
  return t == DType::f32 ? 4 : 2;
}
constexpr const char* dtype_name(DType t) {
  return t == DType::f32 ? "f32" : t == DType::bf16 ? "bf16" : "f16";
}

/// A row-major matrix [rows, cols] that somebody else owns (usually a mapped file). A vector has rows = 1.
/// Data may be unaligned to more than its element size.
struct TensorView {
  const void* data = nullptr;
  DType dtype = DType::f32;
  size_t rows = 0;
  size_t cols = 0;
  /// The data is a private read-only mapping of a file, so that its pages may be given back and read again.
  bool mapped_file = false;

  size_t bytes() const { return rows * cols * dtype_size(dtype); }
  /// The sub-matrix of `n` rows from `first`; the caller keeps first + n <= rows.
  TensorView slice_rows(size_t first, size_t n) const {
    return {static_cast<const char*>(data) + first * cols * dtype_size(dtype), dtype, n, cols, mapped_file};
  }
};

/// bfloat16 storage: the upper half of an IEEE binary32.
struct bf16 {
  uint16_t bits;
};

inline float to_float(bf16 v) {
  return std::bit_cast<float>(static_cast<uint32_t>(v.bits) << 16);
}

/// Round to nearest even; NaN stays NaN.
inline bf16 to_bf16(float v) {
  uint32_t u = std::bit_cast<uint32_t>(v);
  if ((u & 0x7fffffffu) > 0x7f800000u) return {static_cast<uint16_t>((u >> 16) | 0x40u)};
  u += 0x7fffu + ((u >> 16) & 1u);
  return {static_cast<uint16_t>(u >> 16)};
}

/// IEEE binary16 to binary32, exact (subnormals included).
inline float half_to_float(uint16_t h) {
  const uint32_t sign = static_cast<uint32_t>(h & 0x8000u) << 16;
  const uint32_t exponent = (h >> 10) & 0x1fu;
  const uint32_t mantissa = h & 0x3ffu;
  if (exponent == 0x1f) return std::bit_cast<float>(sign | 0x7f800000u | (mantissa << 13));
  if (exponent != 0) return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
  const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
  return sign ? -magnitude : magnitude;
}

/// binary32 to IEEE binary16, to nearest even; what is too large becomes infinite, NaN stays NaN.
inline uint16_t float_to_half(float v) {
  const uint32_t bits = std::bit_cast<uint32_t>(v), magnitude = bits & 0x7fffffffu;
  const uint32_t sign = (bits >> 16) & 0x8000u;
  uint32_t half = 0;
  if (magnitude > 0x7f800000u) {
    half = 0x7e00u;
  } else if (magnitude >= 0x477ff000u) {  // 65,520, half a step above the largest
    half = 0x7c00u;
  } else if (magnitude < 0x38800000u) {  // below 2^-14: beside 1/2 a float's step is that of the subnormals
    half = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3f000000u;
  } else {
    half = (magnitude + 0xfffu + ((magnitude >> 13) & 1u) - 0x38000000u) >> 13;
  }
  return static_cast<uint16_t>(sign | half);
}

}  // namespace carbon
