// Kernels over single rows, written once with the names that each simd_*.hpp header defines:
//
// vf is a vector of kLanes binary32 values. load widens bf16 and f16; store rounds to bf16, to nearest even.
// The functions *_part use only the first n elements in memory and read the others as zero. vmax(a, b) and
// vmin(a, b) return b if either is NaN. fma(a, b, c) is a * b + c, fused if the CPU can do that. scale2(p, n)
// is p * 2^n, rounded once, for 0.5 < p < 2 and whole numbers -252 < n < 255. hsum, hsum4 and hmax reduce a
// vector in a fixed order.

constexpr size_t round_up(size_t n, size_t multiple) {
  return (n + multiple - 1) / multiple * multiple;
}
constexpr size_t least(size_t a, size_t b) {
  return a < b ? a : b;
}

/// exp(x) with a relative error of about 1 ulp. Overflow gives infinity, underflow is gradual, NaN stays NaN.
INLINE vf exp_vector(vf x) {
  const vf clamped = vmin(set1(89.0f), vmax(set1(-105.0f), x));
  // Round to the nearest integer by adding 1.5 * 2^23, which is exact for the small integers possible here.
  const vf magic = set1(12582912.0f);
  const vf n = sub(fma(clamped, set1(1.44269504088896f), magic), magic);
  // ln 2 is split in two parts. The upper part has nine bits, so its product with n is exact without a fused
  // multiply-add.
  const vf r = fma(n, set1(2.12194440e-4f), fma(n, set1(-0.693359375f), clamped));
  // Taylor series. With |r| <= 0.35 the first omitted term is at most 5e-9.
  vf p = set1(1.0f / 5040);
  p = fma(p, r, set1(1.0f / 720));
  p = fma(p, r, set1(1.0f / 120));
  p = fma(p, r, set1(1.0f / 24));
  p = fma(p, r, set1(1.0f / 6));
  p = fma(p, r, set1(0.5f));
  p = add(fma(mul(r, r), p, r), set1(1.0f));
  return scale2(p, n);
}

template <class In>
void widen_typed(const In* in, size_t n, float* out) {
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) store(out + i, load(in + i));
  if (i < n) store_part(out + i, load_part(in + i, n - i), n - i);
}

void widen_blocks(const char* block, size_t n, float* out) {
  constexpr size_t kBytes = weight_format(WeightType::q8_0).block_bytes;
  for (size_t i = 0; i < n; i += kQ8Block, block += kBytes) {
    float scale[kLanes];
    store(scale, load_part(reinterpret_cast<const f16*>(block), 1));
    const auto* const values = reinterpret_cast<const int8_t*>(block + sizeof(f16));
    for (size_t j = 0; j < kQ8Block; ++j) out[i + j] = scale[0] * static_cast<float>(values[j]);
  }
}

void widen(const void* in, WeightType type, size_t n, float* out) {
  switch (type) {
    case WeightType::f32:
      return widen_typed(static_cast<const float*>(in), n, out);
    case WeightType::bf16:
      return widen_typed(static_cast<const bf16*>(in), n, out);
    case WeightType::f16:
      return widen_typed(static_cast<const f16*>(in), n, out);
    case WeightType::q8_0:
      return widen_blocks(static_cast<const char*>(in), n, out);
  }
}

void narrow(const float* in, size_t n, bf16* out) {
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) store(out + i, load(in + i));
  if (i < n) store_part(out + i, load_part(in + i, n - i), n - i);
}

void add_rows(const float* delta, size_t rows, size_t width, float* x, size_t ld_x) {
  for (size_t row = 0; row < rows; ++row, delta += width, x += ld_x) {
    size_t i = 0;
    for (; i + kLanes <= width; i += kLanes) store(x + i, add(load(x + i), load(delta + i)));
    if (i < width) {
      const size_t n = width - i;
      store_part(x + i, add(load_part(x + i, n), load_part(delta + i, n)), n);
    }
  }
}

/// Adds up one partial sum per lane, then the lanes.
INLINE float sum_of_squares(const float* x, size_t width) {
  vf squares = zero();
  size_t i = 0;
  for (; i + kLanes <= width; i += kLanes) {
    const vf v = load(x + i);
    squares = fma(v, v, squares);
  }
  if (i < width) {
    const vf v = load_part(x + i, width - i);
    squares = fma(v, v, squares);
  }
  return hsum(squares);
}

template <class Act>
void norm_typed(const float* x, const float* weight, float eps, size_t rows, size_t width, Act* act) {
  for (size_t row = 0; row < rows; ++row, x += width, act += width) {
    const double mean = static_cast<double>(sum_of_squares(x, width)) / static_cast<double>(width);
    const vf scale = set1(static_cast<float>(1.0 / __builtin_sqrt(mean + static_cast<double>(eps))));
    size_t i = 0;
    for (; i + kLanes <= width; i += kLanes) store(act + i, mul(mul(load(x + i), scale), load(weight + i)));
    if (i < width) {
      const size_t n = width - i;
      store_part(act + i, mul(mul(load_part(x + i, n), scale), load_part(weight + i, n)), n);
    }
  }
}

void norm(const float* x, const float* weight, float eps, size_t rows, size_t width, void* act,
          DType act_type) {
  if (act_type == DType::bf16)
    norm_typed(x, weight, eps, rows, width, static_cast<bf16*>(act));
  else
    norm_typed(x, weight, eps, rows, width, static_cast<float*>(act));
}

/// silu(g) * u. For a large negative g the exponential is infinite and the quotient -0, which is right.
INLINE vf gated(vf g, vf u) {
  return mul(div(g, add(set1(1.0f), exp_vector(sub(zero(), g)))), u);
}

template <class Act>
void swiglu_typed(const float* gate_up, size_t rows, size_t width, Act* act) {
  for (size_t row = 0; row < rows; ++row, gate_up += 2 * width, act += width) {
    const float* up = gate_up + width;
    size_t i = 0;
    for (; i + kLanes <= width; i += kLanes) store(act + i, gated(load(gate_up + i), load(up + i)));
    if (i < width) {
      const size_t n = width - i;
      store_part(act + i, gated(load_part(gate_up + i, n), load_part(up + i, n)), n);
    }
  }
}

void swiglu(const float* gate_up, size_t rows, size_t width, void* act, DType act_type) {
  if (act_type == DType::bf16)
    swiglu_typed(gate_up, rows, width, static_cast<bf16*>(act));
  else
    swiglu_typed(gate_up, rows, width, static_cast<float*>(act));
}

float finite_max(const float* z, size_t n) {
  // z - z is 0 for a finite z and NaN otherwise, so `bad` becomes NaN and stays NaN.
  vf largest = set1(-__builtin_inff()), bad = zero();
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    const vf v = load(z + i);
    largest = vmax(v, largest);
    bad = add(bad, sub(v, v));
  }
  float result = hmax(largest);
  float sum = hsum(bad);
  for (; i < n; ++i) {
    if (z[i] > result) result = z[i];
    sum += z[i] - z[i];
  }
  return sum == 0.0f ? result : __builtin_nanf("");
}

void exp_shifted(const float* z, size_t n, float shift, float* out) {
  const vf s = set1(shift);
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) store(out + i, exp_vector(sub(load(z + i), s)));
  if (i < n) store_part(out + i, exp_vector(sub(load_part(z + i, n - i), s)), n - i);
}
