// Vectors for AVX2 with FMA and F16C: eight binary32 lanes.
//
// Included inside a namespace of the file that compiles the kernels; see kernels.inl for what the names mean.

inline constexpr size_t kLanes = 8;
inline constexpr size_t kTileRows = 3;
inline constexpr size_t kPanelVectors = 2, kPanelRows = 6;
inline constexpr bool kFetchesAlone = true;
inline constexpr bool kWidensOnce = false;

using vf = __m256;

INLINE vf zero() {
  return _mm256_setzero_ps();
}
INLINE vf set1(float x) {
  return _mm256_set1_ps(x);
}

INLINE __m256i lanes_below(size_t n) {
  const __m256i index = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(n)), index);
}
INLINE __m128i load_eight(const void* p) {
  return _mm_loadu_si128(static_cast<const __m128i*>(p));
}
// AVX2 has no masked load of 16-bit elements, so they are copied first.
INLINE __m128i load_eight_part(const void* p, size_t n) {
  uint16_t padded[8] = {};
  __builtin_memcpy(padded, p, n * 2);
  return load_eight(padded);
}
INLINE vf widen_bf16(__m128i h) {
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(h), 16));
}

INLINE vf load(const float* p) {
  return _mm256_loadu_ps(p);
}
INLINE vf load(const bf16* p) {
  return widen_bf16(load_eight(p));
}
INLINE vf load(const f16* p) {
  return _mm256_cvtph_ps(load_eight(p));
}
INLINE vf load_part(const float* p, size_t n) {
  return _mm256_maskload_ps(p, lanes_below(n));
}
INLINE vf load_part(const bf16* p, size_t n) {
  return widen_bf16(load_eight_part(p, n));
}
INLINE vf load_part(const f16* p, size_t n) {
  return _mm256_cvtph_ps(load_eight_part(p, n));
}

INLINE __m128i round_bf16(vf v) {
  const __m256i u = _mm256_castps_si256(v);
  const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(u, 16), _mm256_set1_epi32(1));
  const __m256i rounded = _mm256_add_epi32(u, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff)));
  const __m256i quiet = _mm256_or_si256(u, _mm256_set1_epi32(0x400000));
  const __m256i nan = _mm256_castps_si256(_mm256_cmp_ps(v, v, _CMP_UNORD_Q));
  const __m256i high = _mm256_srli_epi32(_mm256_blendv_epi8(rounded, quiet, nan), 16);
  return _mm_packus_epi32(_mm256_castsi256_si128(high), _mm256_extracti128_si256(high, 1));
}
INLINE void store(float* p, vf v) {
  _mm256_storeu_ps(p, v);
}
INLINE void store(bf16* p, vf v) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), round_bf16(v));
}
INLINE void store_part(float* p, vf v, size_t n) {
  _mm256_maskstore_ps(p, lanes_below(n), v);
}
INLINE void store_part(bf16* p, vf v, size_t n) {
  const __m128i h = round_bf16(v);
  __builtin_memcpy(p, &h, n * 2);
}

INLINE vf add(vf a, vf b) {
  return _mm256_add_ps(a, b);
}
INLINE vf sub(vf a, vf b) {
  return _mm256_sub_ps(a, b);
}
INLINE vf mul(vf a, vf b) {
  return _mm256_mul_ps(a, b);
}
INLINE vf div(vf a, vf b) {
  return _mm256_div_ps(a, b);
}
INLINE vf fma(vf a, vf b, vf c) {
  return _mm256_fmadd_ps(a, b, c);
}
INLINE vf vmax(vf a, vf b) {
  return _mm256_max_ps(a, b);
}
INLINE vf vmin(vf a, vf b) {
  return _mm256_min_ps(a, b);
}
INLINE vf pow2(__m256i n) {
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(n, _mm256_set1_epi32(127)), 23));
}
// In two steps, because 2^n may not be a normal number.
INLINE vf scale2(vf p, vf n) {
  const __m256i whole = _mm256_cvtps_epi32(n), half = _mm256_srai_epi32(whole, 1);
  return mul(mul(p, pow2(half)), pow2(_mm256_sub_epi32(whole, half)));
}

INLINE float hmax(vf v) {
  __m128 m = _mm_max_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
  m = _mm_max_ps(m, _mm_movehl_ps(m, m));
  return _mm_cvtss_f32(_mm_max_ss(m, _mm_shuffle_ps(m, m, 1)));
}
INLINE __m128 sum4(vf a, vf b, vf c, vf d) {
  const vf ab = add(_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b));
  const vf cd = add(_mm256_unpacklo_ps(c, d), _mm256_unpackhi_ps(c, d));
  const vf low = _mm256_shuffle_ps(ab, cd, 0x44), high = _mm256_shuffle_ps(ab, cd, 0xee);
  const vf abcd = add(low, high);
  return _mm_add_ps(_mm256_castps256_ps128(abcd), _mm256_extractf128_ps(abcd, 1));
}
INLINE void hsum4(vf a, vf b, vf c, vf d, float* out) {
  _mm_storeu_ps(out, sum4(a, b, c, d));
}
INLINE float hsum(vf v) {
  return _mm_cvtss_f32(sum4(v, zero(), zero(), zero()));
}

// Products of int8 as pairs of 16-bit numbers, whose sums cannot overflow.
typedef int32_t vsums __attribute__((vector_size(32)));
using vweights = __m256i;
inline constexpr size_t kInt8Vectors = 2;
inline constexpr size_t kInt8Group = 2;
inline constexpr int32_t kInt8Offset = 0;
using Int8Act = int16_t;

INLINE vsums int8_begin(int32_t begin) {
  return vsums{} + begin;
}
INLINE vweights load_weights(const char* p) {
  return _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
}
INLINE __m256i broadcast_acts(const Int8Act* a) {
  int32_t pair;
  __builtin_memcpy(&pair, a, sizeof pair);
  return _mm256_set1_epi32(pair);
}
INLINE vsums int8_dot(vsums acc, vweights w, __m256i a) {
  return acc + reinterpret_cast<vsums>(_mm256_madd_epi16(w, a));
}
INLINE vf int8_sum(vsums v) {
  return _mm256_cvtepi32_ps(reinterpret_cast<__m256i>(v));
}
