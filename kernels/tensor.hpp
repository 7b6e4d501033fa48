// Types of numbers, and a view of a matrix in host memory.
//
// There are two kinds of types. DType is for what the program computes: activations, the KV cache, results.
// WeightType is for what a checkpoint stores: a kernel or a conversion reads it, nothing writes it. Only the
// second may pack numbers in blocks that share a scale.
//
// This header knows nothing of files, devices or DNA.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace carbon {

/// The type of activations, of the KV cache and of results: an array with one element per number.
/// Backends compute in f32 or bf16, and that of CUDA in f16, which files of embeddings have, too.
enum class DType : uint8_t { f32, bf16, f16 };

/// Bytes per element.
constexpr size_t dtype_size(DType t) {
  return t == DType::f32 ? 4 : 2;
}
constexpr const char* dtype_name(DType t) {
  return t == DType::f32 ? "f32" : t == DType::bf16 ? "bf16" : "f16";
}

/// The type in which a checkpoint stores a tensor. q8_0 is a block type of GGUF: kQ8Block numbers share a
/// scale of f16, which comes first, and each is an int8 that is multiplied by it.
enum class WeightType : uint8_t { f32, bf16, f16, q8_0 };
inline constexpr size_t kQ8Block = 32;

/// How a WeightType lies in memory: a row is a sequence of blocks, and each block holds `block` numbers in
/// `block_bytes` bytes. An array with one element per number has blocks of one.
struct WeightFormat {
  size_t block;
  size_t block_bytes;
  size_t alignment;  // of the address of a block
};

constexpr WeightFormat weight_format(WeightType t) {
  if (t == WeightType::q8_0) return {kQ8Block, sizeof(uint16_t) + kQ8Block, alignof(uint16_t)};
  return t == WeightType::f32 ? WeightFormat{1, 4, 4} : WeightFormat{1, 2, 2};
}
/// Bytes of `n` consecutive numbers, from the beginning of a block; n is a multiple of the block length.
constexpr size_t weight_bytes(WeightType t, size_t n) {
  return n / weight_format(t).block * weight_format(t).block_bytes;
}
/// Bytes per element, for types with blocks of one number.
constexpr size_t dtype_size(WeightType t) {
  return weight_format(t).block_bytes;
}
/// The WeightType whose elements are those of `t`.
constexpr WeightType weight_type(DType t) {
  return t == DType::f32 ? WeightType::f32 : t == DType::bf16 ? WeightType::bf16 : WeightType::f16;
}

/// A row-major matrix [rows, cols] in memory that somebody else owns (usually a mapped file). A vector has
/// rows = 1. A row holds whole blocks: cols is a multiple of the block length. Data is aligned to
/// weight_format(dtype).alignment and perhaps to no more.
struct TensorView {
  const void* data = nullptr;
  WeightType dtype = WeightType::f32;
  size_t rows = 0;
  size_t cols = 0;
  /// The data is a read-only mapping of a file: its pages may be given back and are read again when needed.
  bool mapped_file = false;

  TensorView() = default;
  TensorView(const void* data_, WeightType dtype_, size_t rows_, size_t cols_, bool mapped_file_ = false)
      : data(data_), dtype(dtype_), rows(rows_), cols(cols_), mapped_file(mapped_file_) {}
  /// A matrix that the program computed.
  TensorView(const void* data_, DType dtype_, size_t rows_, size_t cols_, bool mapped_file_ = false)
      : TensorView(data_, weight_type(dtype_), rows_, cols_, mapped_file_) {}

  size_t row_bytes() const { return weight_bytes(dtype, cols); }
  size_t bytes() const { return rows * row_bytes(); }
  const void* row(size_t i) const { return static_cast<const char*>(data) + i * row_bytes(); }
  /// The `n` rows from `first` on; the caller ensures first + n <= rows.
  TensorView slice_rows(size_t first, size_t n) const { return {row(first), dtype, n, cols, mapped_file}; }
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

/// `n` numbers of type q8_0 from the beginning of a block, n a multiple of kQ8Block, as f32. Exact: eleven
/// bits of a scale times eight of an int8.
inline void widen_q8_0(const void* in, size_t n, float* out) {
  const char* block = static_cast<const char*>(in);
  for (size_t i = 0; i < n; i += kQ8Block, block += weight_format(WeightType::q8_0).block_bytes) {
    uint16_t scale;
    std::memcpy(&scale, block, sizeof scale);
    const auto* const values = reinterpret_cast<const int8_t*>(block + sizeof scale);
    for (size_t j = 0; j < kQ8Block; ++j) out[i + j] = half_to_float(scale) * static_cast<float>(values[j]);
  }
}

}  // namespace carbon
