// Vectors for AArch64 with Advanced SIMD (NEON), which every such CPU has: four binary32 lanes; with BF16
// also products of bf16 pairs.
//
// Included inside a namespace of the file that compiles the kernels; see kernels.inl for what the names mean.

inline constexpr size_t kLanes = 4;
// Of 32 registers, 24 hold sums, 4 hold the right side and the others what is multiplied with it.
inline constexpr size_t kTileRows = 6;
inline constexpr size_t kPanelVectors = 4, kPanelRows = 6;
inline constexpr bool kFetchesAlone = false;
inline constexpr bool kWidensOnce = false;

using vf = float32x4_t;

INLINE vf zero() {
  return vdupq_n_f32(0.0f);
}
INLINE vf set1(float x) {
  return vdupq_n_f32(x);
}

INLINE uint16x4_t load_four(const void* p) {
  uint16x4_t v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}
INLINE vf load(const float* p) {
  return vld1q_f32(p);
}
INLINE vf load(const bf16* p) {
  return vreinterpretq_f32_u32(vshll_n_u16(load_four(p), 16));
}
INLINE vf load(const f16* p) {
  return vcvt_f32_f16(vreinterpret_f16_u16(load_four(p)));
}
// There is no masked load and no masked store.
template <class T>
INLINE vf load_part(const T* p, size_t n) {
  T padded[4] = {};
  __builtin_memcpy(padded, p, n * sizeof(T));
  return load(padded);
}

#ifdef PAIRS
INLINE uint16x4_t round_bf16(vf v) {
  return vreinterpret_u16_bf16(vcvt_bf16_f32(v));
}
#else
INLINE uint16x4_t round_bf16(vf v) {
  const uint32x4_t u = vreinterpretq_u32_f32(v);
  const uint32x4_t odd = vandq_u32(vshrq_n_u32(u, 16), vdupq_n_u32(1));
  const uint32x4_t rounded = vaddq_u32(u, vaddq_u32(odd, vdupq_n_u32(0x7fff)));
  const uint32x4_t quiet = vorrq_u32(u, vdupq_n_u32(0x400000));
  return vshrn_n_u32(vbslq_u32(vceqq_f32(v, v), rounded, quiet), 16);
}
#endif
INLINE void store(float* p, vf v) {
  vst1q_f32(p, v);
}
INLINE void store(bf16* p, vf v) {
  const uint16x4_t h = round_bf16(v);
  __builtin_memcpy(p, &h, sizeof h);
}
template <class T>
INLINE void store_part(T* p, vf v, size_t n) {
  T padded[4];
  store(padded, v);
  __builtin_memcpy(p, padded, n * sizeof(T));
}

INLINE vf add(vf a, vf b) {
  return vaddq_f32(a, b);
}
INLINE vf sub(vf a, vf b) {
  return vsubq_f32(a, b);
}
INLINE vf mul(vf a, vf b) {
  return vmulq_f32(a, b);
}
INLINE vf div(vf a, vf b) {
  return vdivq_f32(a, b);
}
INLINE vf fma(vf a, vf b, vf c) {
  return vfmaq_f32(c, a, b);
}
// FMAX and FMIN would return NaN if either is NaN.
INLINE vf vmax(vf a, vf b) {
  return vbslq_f32(vcgtq_f32(a, b), a, b);
}
INLINE vf vmin(vf a, vf b) {
  return vbslq_f32(vcltq_f32(a, b), a, b);
}
INLINE vf pow2(int32x4_t n) {
  return vreinterpretq_f32_s32(vshlq_n_s32(vaddq_s32(n, vdupq_n_s32(127)), 23));
}
// In two steps, because 2^n may not be a normal number.
INLINE vf scale2(vf p, vf n) {
  const int32x4_t whole = vcvtnq_s32_f32(n), half = vshrq_n_s32(whole, 1);
  return mul(mul(p, pow2(half)), pow2(vsubq_s32(whole, half)));
}

INLINE float hmax(vf v) {
  return vmaxvq_f32(v);
}
INLINE vf sum4(vf a, vf b, vf c, vf d) {
  return vpaddq_f32(vpaddq_f32(a, b), vpaddq_f32(c, d));
}
INLINE void hsum4(vf a, vf b, vf c, vf d, float* out) {
  store(out, sum4(a, b, c, d));
}
INLINE float hsum(vf v) {
  return vgetq_lane_f32(sum4(v, zero(), zero(), zero()), 0);
}

// Products of int8.
using vsums = int32x4_t;
using vweights = int8x16_t;
inline constexpr size_t kInt8Vectors = 2;
inline constexpr size_t kInt8Group = 4;
inline constexpr int32_t kInt8Offset = 0;
using Int8Act = int8_t;

INLINE vsums int8_begin(int32_t begin) {
  return vdupq_n_s32(begin);
}
INLINE vf int8_sum(vsums v) {
  return vcvtq_f32_s32(v);
}
INLINE vweights load_weights(const char* p) {
  return vld1q_s8(reinterpret_cast<const int8_t*>(p));
}
#ifdef __ARM_FEATURE_DOTPROD
/// The four activations at a; the instruction takes them for every lane.
INLINE int8x8_t broadcast_acts(const Int8Act* a) {
  float four;  // loaded into a vector register at once
  __builtin_memcpy(&four, a, sizeof four);
  return vreinterpret_s8_f32(float32x2_t{four, 0.0f});
}
INLINE vsums int8_dot(vsums acc, vweights w, int8x8_t a) {
  return vdotq_lane_s32(acc, w, a, 0);
}
#else
INLINE int8x16_t broadcast_acts(const Int8Act* a) {
  int32_t four;
  __builtin_memcpy(&four, a, sizeof four);
  return vreinterpretq_s8_s32(vdupq_n_s32(four));
}
/// A sum of two products, at most 2 * 128 * 127, fits 16 bits.
INLINE vsums int8_dot(vsums acc, vweights w, int8x16_t a) {
  const int16x8_t low = vmull_s8(vget_low_s8(w), vget_low_s8(a)), high = vmull_high_s8(w, a);
  return vpadalq_s16(acc, vpaddq_s16(low, high));
}
#endif

#ifdef PAIRS
using vpair = bfloat16x8_t;  // 4 pairs of bf16
using vleft = bfloat16x4_t;  // one pair; the instruction takes it for every lane

INLINE vpair load_pairs(const bf16* p) {
  vpair v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}
/// Rounds to bf16 for a product of pairs.
INLINE void store_for_pairs(bf16* p, vf v) {
  store(p, v);
}
INLINE vleft broadcast_pair(const bf16* p) {
  float pair;  // loaded into a vector register at once
  __builtin_memcpy(&pair, p, sizeof pair);
  return vreinterpret_bf16_f32(float32x2_t{pair, 0.0f});
}
/// The bf16 at p, with zero as the second of the pair.
INLINE vleft broadcast_first(const bf16* p) {
  uint16_t first;
  __builtin_memcpy(&first, p, sizeof first);
  return vreinterpret_bf16_u16(uint16x4_t{first, 0, 0, 0});
}
/// Sets the second of every pair to zero.
INLINE vpair first_of_pairs(vpair v) {
  return vreinterpretq_bf16_u32(vandq_u32(vreinterpretq_u32_bf16(v), vdupq_n_u32(0xffff)));
}
/// BFDOT: acc + (a0 b0 + a1 b1). The two products are exact in binary32. Their sum is rounded, and then the
/// sum with acc, each to odd: if a result is not a binary32 number, it is that one of the two neighbours
/// whose last bit is 1. Subnormal inputs and results become zero. The architecture prescribes this, whatever
/// the rounding mode, as long as bit EBF of FPCR is 0, and Linux starts every thread with all of FPCR 0. So
/// all CPUs with BF16 give the same bits, also those with FEAT_EBF16, which could round otherwise.
INLINE vf pair_dot(vf acc, vleft a, vpair b) {
  return vbfdotq_lane_f32(acc, b, a, 0);
}
#endif
