// Vectors for any CPU: four binary32 lanes in the compiler's portable vector type, no fused multiply-add.
//
// Included inside a namespace of the file that compiles the kernels; see kernels.inl for what the names mean.

inline constexpr size_t kLanes = 4;
inline constexpr size_t kTileRows = 3;
inline constexpr size_t kPanelVectors = 2, kPanelRows = 6;
inline constexpr bool kFetchesAlone = false;
inline constexpr bool kWidensOnce = false;

typedef float vf __attribute__((vector_size(16)));
typedef int32_t vi __attribute__((vector_size(16)));
typedef uint16_t vh __attribute__((vector_size(8)));
typedef uint32_t vu __attribute__((vector_size(16)));

INLINE vf zero() {
  return vf{0.0f, 0.0f, 0.0f, 0.0f};
}
INLINE vf set1(float x) {
  return vf{x, x, x, x};
}

INLINE float half_bits_to_float(uint16_t h) {
  const uint32_t exponent = (h >> 10) & 0x1fu, mantissa = h & 0x3ffu;
  float value;
  if (exponent == 0) {
    value = static_cast<float>(mantissa) * 0x1p-24f;
  } else {
    const uint32_t bits = ((exponent == 0x1fu ? 0xffu : exponent + 112) << 23) | (mantissa << 13);
    __builtin_memcpy(&value, &bits, 4);
  }
  return (h & 0x8000u) ? -value : value;
}

INLINE vf load(const float* p) {
  vf v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}
INLINE vf load(const bf16* p) {
  vh h;
  __builtin_memcpy(&h, p, sizeof h);
  return reinterpret_cast<vf>(__builtin_convertvector(h, vu) << 16);
}
INLINE vf load(const f16* p) {
  uint16_t h[4];
  __builtin_memcpy(h, p, sizeof h);
  return vf{half_bits_to_float(h[0]), half_bits_to_float(h[1]), half_bits_to_float(h[2]),
            half_bits_to_float(h[3])};
}
template <class T>
INLINE vf load_part(const T* p, size_t n) {
  T padded[4] = {};
  __builtin_memcpy(padded, p, n * sizeof(T));
  return load(padded);
}

INLINE void store(float* p, vf v) {
  __builtin_memcpy(p, &v, sizeof v);
}
INLINE void store(bf16* p, vf v) {
  for (int i = 0; i < 4; ++i) {
    const float x = v[i];
    uint32_t u;
    __builtin_memcpy(&u, &x, 4);
    u = (u & 0x7fffffffu) > 0x7f800000u ? (u | 0x400000u) : u + 0x7fffu + ((u >> 16) & 1u);
    const uint16_t h = static_cast<uint16_t>(u >> 16);
    __builtin_memcpy(p + i, &h, 2);
  }
}
template <class T>
INLINE void store_part(T* p, vf v, size_t n) {
  T padded[4];
  store(padded, v);
  __builtin_memcpy(p, padded, n * sizeof(T));
}

INLINE vf add(vf a, vf b) {
  return a + b;
}
INLINE vf sub(vf a, vf b) {
  return a - b;
}
INLINE vf mul(vf a, vf b) {
  return a * b;
}
INLINE vf div(vf a, vf b) {
  return a / b;
}
INLINE vf fma(vf a, vf b, vf c) {
  return a * b + c;
}

INLINE vf pick(vi mask, vf yes, vf no) {
  return reinterpret_cast<vf>((mask & reinterpret_cast<vi>(yes)) | (~mask & reinterpret_cast<vi>(no)));
}
INLINE vf vmax(vf a, vf b) {
  return pick(a > b, a, b);
}
INLINE vf vmin(vf a, vf b) {
  return pick(a < b, a, b);
}
INLINE vf pow2(vi n) {
  return reinterpret_cast<vf>((reinterpret_cast<vu>(n) + 127u) << 23);
}
// In two steps, because 2^n may not be a normal number.
INLINE vf scale2(vf p, vf n) {
  const vi whole = __builtin_convertvector(n, vi), half = whole >> 1;
  return p * pow2(half) * pow2(whole - half);
}

INLINE float hmax(vf v) {
  const float a = v[0] > v[1] ? v[0] : v[1], b = v[2] > v[3] ? v[2] : v[3];
  return a > b ? a : b;
}
INLINE float hsum(vf v) {
  return (v[0] + v[2]) + (v[1] + v[3]);
}
INLINE void hsum4(vf a, vf b, vf c, vf d, float* out) {
  out[0] = hsum(a);
  out[1] = hsum(b);
  out[2] = hsum(c);
  out[3] = hsum(d);
}

// Products of int8 in f32, which is exact: a block sums up to less than 2^24. Many CPUs have no product of
// vectors of whole numbers.
using vsums = vf;
using vweights = vf;
inline constexpr size_t kInt8Vectors = 1;
inline constexpr size_t kInt8Group = 1;
inline constexpr int32_t kInt8Offset = 0;
using Int8Act = float;

INLINE vf int8_begin(int32_t begin) {
  return set1(static_cast<float>(begin));
}
INLINE vweights load_weights(const char* p) {
  typedef int8_t vb __attribute__((vector_size(4)));
  vb bytes;
  __builtin_memcpy(&bytes, p, sizeof bytes);
  return __builtin_convertvector(bytes, vf);
}
INLINE vf broadcast_acts(const Int8Act* a) {
  return set1(*a);
}
INLINE vf int8_dot(vf acc, vweights w, vf a) {
  return acc + w * a;
}
INLINE vf int8_sum(vf v) {
  return v;
}
