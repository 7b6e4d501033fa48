// Vectors for AVX-512 (F, BW, VL, DQ): sixteen binary32 lanes; with AVX512_BF16 also products of bf16 pairs.
//
// Included inside a namespace of the file that compiles the kernels; see kernels.inl for what the names mean.

inline constexpr size_t kLanes = 16;
inline constexpr size_t kTileRows = 6;
inline constexpr size_t kPanelVectors = 4, kPanelRows = 6;
// Without products of pairs, or with tiles, it is a CPU from Intel.
#if !defined(PAIRS) || defined(TILES)
inline constexpr bool kWidensOnce = true;
#else
inline constexpr bool kWidensOnce = false;
#endif
#ifndef PAIRS
inline constexpr bool kFetchesAlone = true;
#else
inline constexpr bool kFetchesAlone = false;
#endif

using vf = __m512;

INLINE vf zero() {
  return _mm512_setzero_ps();
}
INLINE vf set1(float x) {
  return _mm512_set1_ps(x);
}

INLINE __mmask16 lanes_below(size_t n) {
  return static_cast<__mmask16>((1u << n) - 1u);
}
INLINE vf widen_bf16(__m256i h) {
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(h), 16));
}

INLINE vf load(const float* p) {
  return _mm512_loadu_ps(p);
}
INLINE vf load(const bf16* p) {
  return widen_bf16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
}
INLINE vf load(const f16* p) {
  return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
}
INLINE vf load_part(const float* p, size_t n) {
  return _mm512_maskz_loadu_ps(lanes_below(n), p);
}
INLINE vf load_part(const bf16* p, size_t n) {
  return widen_bf16(_mm256_maskz_loadu_epi16(lanes_below(n), p));
}
INLINE vf load_part(const f16* p, size_t n) {
  return _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(lanes_below(n), p));
}

// vcvtneps2bf16 is not used, because it makes subnormals zero, and bf16 values must be the same on every CPU.
INLINE __m256i round_bf16(vf v) {
  const __m512i u = _mm512_castps_si512(v);
  const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(u, 16), _mm512_set1_epi32(1));
  const __m512i rounded = _mm512_add_epi32(u, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff)));
  const __m512i quiet = _mm512_or_si512(u, _mm512_set1_epi32(0x400000));
  const __mmask16 nan = _mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q);
  return _mm512_cvtepi32_epi16(_mm512_srli_epi32(_mm512_mask_mov_epi32(rounded, nan, quiet), 16));
}
INLINE void store(float* p, vf v) {
  _mm512_storeu_ps(p, v);
}
INLINE void store(bf16* p, vf v) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), round_bf16(v));
}
INLINE void store_part(float* p, vf v, size_t n) {
  _mm512_mask_storeu_ps(p, lanes_below(n), v);
}
INLINE void store_part(bf16* p, vf v, size_t n) {
  _mm256_mask_storeu_epi16(p, lanes_below(n), round_bf16(v));
}

INLINE vf add(vf a, vf b) {
  return _mm512_add_ps(a, b);
}
INLINE vf sub(vf a, vf b) {
  return _mm512_sub_ps(a, b);
}
INLINE vf mul(vf a, vf b) {
  return _mm512_mul_ps(a, b);
}
INLINE vf div(vf a, vf b) {
  return _mm512_div_ps(a, b);
}
INLINE vf fma(vf a, vf b, vf c) {
  return _mm512_fmadd_ps(a, b, c);
}
INLINE vf vmax(vf a, vf b) {
  return _mm512_max_ps(a, b);
}
INLINE vf vmin(vf a, vf b) {
  return _mm512_min_ps(a, b);
}
INLINE vf scale2(vf p, vf n) {
  return _mm512_scalef_ps(p, n);
}

INLINE __m256 upper_half(vf v) {
  return _mm512_extractf32x8_ps(v, 1);
}
INLINE float hmax(vf v) {
  const __m256 h = _mm256_max_ps(_mm512_castps512_ps256(v), upper_half(v));
  __m128 m = _mm_max_ps(_mm256_castps256_ps128(h), _mm256_extractf128_ps(h, 1));
  m = _mm_max_ps(m, _mm_movehl_ps(m, m));
  return _mm_cvtss_f32(_mm_max_ss(m, _mm_shuffle_ps(m, m, 1)));
}
INLINE __m128 sum4(vf a, vf b, vf c, vf d) {
  const vf ab = add(_mm512_unpacklo_ps(a, b), _mm512_unpackhi_ps(a, b));
  const vf cd = add(_mm512_unpacklo_ps(c, d), _mm512_unpackhi_ps(c, d));
  const vf low = _mm512_shuffle_ps(ab, cd, 0x44), high = _mm512_shuffle_ps(ab, cd, 0xee);
  const vf abcd = add(low, high);
  const __m256 h = _mm256_add_ps(_mm512_castps512_ps256(abcd), upper_half(abcd));
  return _mm_add_ps(_mm256_castps256_ps128(h), _mm256_extractf128_ps(h, 1));
}
INLINE void hsum4(vf a, vf b, vf c, vf d, float* out) {
  _mm_storeu_ps(out, sum4(a, b, c, d));
}
INLINE float hsum(vf v) {
  return _mm_cvtss_f32(sum4(v, zero(), zero(), zero()));
}

// Products of int8.
inline constexpr size_t kInt8Vectors = 2;
typedef int32_t vsums
    __attribute__((vector_size(64)));  // not __m512i: GCC 12 would keep arrays of it in memory
using vweights = __m512i;

INLINE vsums int8_begin(int32_t begin) {
  return vsums{} + begin;
}
INLINE vf int8_sum(vsums v) {
  return _mm512_cvtepi32_ps(reinterpret_cast<__m512i>(v));
}
/// The four bytes at p in every lane.
INLINE __m512i broadcast_four(const void* p) {
  int32_t four;
  __builtin_memcpy(&four, p, sizeof four);
  return _mm512_set1_epi32(four);
}
#ifdef __AVX512VNNI__
// The instruction multiplies bytes without a sign, the weights, by bytes with one, the activations.
inline constexpr size_t kInt8Group = 4;
inline constexpr int32_t kInt8Offset = 128;
using Int8Act = int8_t;
INLINE vweights load_weights(const char* p) {
  return _mm512_loadu_si512(p);
}
INLINE __m512i broadcast_acts(const Int8Act* a) {
  return broadcast_four(a);
}
INLINE vsums int8_dot(vsums acc, vweights w, __m512i a) {
  return reinterpret_cast<vsums>(_mm512_dpbusd_epi32(reinterpret_cast<__m512i>(acc), w, a));
}
#else
// Products of pairs of 16-bit numbers, whose sums cannot overflow.
inline constexpr size_t kInt8Group = 2;
inline constexpr int32_t kInt8Offset = 0;
using Int8Act = int16_t;
INLINE vweights load_weights(const char* p) {
  return _mm512_cvtepi8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
}
INLINE __m512i broadcast_acts(const Int8Act* a) {
  return broadcast_four(a);
}
INLINE vsums int8_dot(vsums acc, vweights w, __m512i a) {
  return acc + reinterpret_cast<vsums>(_mm512_madd_epi16(w, a));
}
#endif

#ifdef PAIRS
using vpair = __m512i;  // 16 pairs of bf16
using vleft = __m512i;  // one pair in every lane

INLINE vpair load_pairs(const bf16* p) {
  return _mm512_loadu_si512(p);
}
/// Rounds to bf16 for a product of pairs. A subnormal number becomes zero, which makes no difference, because
/// the product takes it for zero anyway.
INLINE void store_for_pairs(bf16* p, vf v) {
  const __m256bh rounded = _mm512_cvtneps_pbh(v);
  __builtin_memcpy(p, &rounded, sizeof rounded);
}
/// The pair at p in every lane.
INLINE vleft broadcast_pair(const bf16* p) {
  int32_t pair;
  __builtin_memcpy(&pair, p, sizeof pair);
  return _mm512_set1_epi32(pair);
}
/// The bf16 at p, with zero as the second of the pair, in every lane.
INLINE vleft broadcast_first(const bf16* p) {
  uint16_t first;
  __builtin_memcpy(&first, p, sizeof first);
  return _mm512_set1_epi32(first);
}
/// Sets the second of every pair to zero.
INLINE vpair first_of_pairs(vpair v) {
  return _mm512_and_si512(v, _mm512_set1_epi32(0xffff));
}
INLINE vf pair_dot(vf acc, vleft a, vpair b) {
  return _mm512_dpbf16_ps(acc, reinterpret_cast<__m512bh>(a), reinterpret_cast<__m512bh>(b));
}
#endif
