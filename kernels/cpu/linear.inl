// Matrix product with row-major weights, as dot products: included after kernels.inl.
//
// One output is: for each block of kBlock inputs in ascending order, a vector of partial sums over the block
// in ascending order, reduced by hsum4 and added to the output in f32. That sequence depends on K alone; row
// tiles, column groups and packing only choose which outputs share a load. The end of a block is padded with
// zeros up to a whole vector on every path, so that each takes the same steps.

/// Inputs in a block: what bounds both the rounding error of a partial sum and the size of the packed panels.
inline constexpr size_t kBlock = 1024;
inline constexpr size_t kPanelColumns = kLinearColumns;
/// With fewer rows than this weights are used where they lie, since a packed copy would be read too few
/// times.
inline constexpr size_t kPackRows = 9;
/// Floats or bf16 between packed rows beyond the block itself: keeps rows from sharing cache sets.
inline constexpr size_t kSkew = 32;

constexpr size_t round_up(size_t n, size_t multiple) {
  return (n + multiple - 1) / multiple * multiple;
}
constexpr size_t least(size_t a, size_t b) {
  return a < b ? a : b;
}

/// Products of f32 activations with weights of any type, widened in registers.
template <class WeightType>
struct FloatDot {
  using Act = float;
  using Weight = WeightType;
  static constexpr size_t step = kLanes;
  INLINE static vf act(const float* p) { return load(p); }
  INLINE static vf weight(const Weight* p) { return load(p); }
  INLINE static vf weight_part(const Weight* p, size_t n) { return load_part(p, n); }
  INLINE static vf mac(vf acc, vf a, vf w) { return fma(a, w, acc); }
};

#ifdef __AVX512BF16__
/// Products of bf16 pairs, summed in f32 by the CPU.
struct PairDot {
  using Act = bf16;
  using Weight = bf16;
  static constexpr size_t step = 2 * kLanes;
  INLINE static vpair act(const bf16* p) { return load_pairs(p); }
  INLINE static vpair weight(const bf16* p) { return load_pairs(p); }
  INLINE static vpair weight_part(const bf16* p, size_t n) { return load_pairs_part(p, n); }
  INLINE static vf mac(vf acc, vpair a, vpair w) { return pair_dot(acc, a, w); }
};
#endif

template <class In>
void pack(const In* in, size_t n, float* out) {
  widen_typed(in, n, out);
}
inline void pack(const bf16* in, size_t n, bf16* out) {
  __builtin_memcpy(out, in, n * sizeof(bf16));
}

/// Copies n elements into the type that is multiplied, and zeros up to a multiple of Step.
template <size_t Step, class In, class Out>
void pack_row(const In* in, size_t n, Out* out) {
  pack(in, n, out);
  const size_t padded = round_up(n, Step);
  if (n < padded) __builtin_memset(out + n, 0, (padded - n) * sizeof(Out));
}

/// Rows x 4 outputs of one block. `a` is packed; w[j] may be any four rows (repeated ones at the right edge,
/// of which only `columns` are stored).
template <class Dot, size_t Rows>
void dot_tile(const typename Dot::Act* a, size_t lda, const typename Dot::Weight* const (&w)[4], size_t k,
              float* out, size_t ld_out, size_t columns, bool first) {
  vf acc[Rows][4];
#pragma GCC unroll 8
  for (size_t r = 0; r < Rows; ++r)
#pragma GCC unroll 4
    for (size_t j = 0; j < 4; ++j) acc[r][j] = zero();
  const auto* const w0 = w[0];
  const auto* const w1 = w[1];
  const auto* const w2 = w[2];
  const auto* const w3 = w[3];
  size_t i = 0;
  for (; i + Dot::step <= k; i += Dot::step) {
    const auto v0 = Dot::weight(w0 + i), v1 = Dot::weight(w1 + i), v2 = Dot::weight(w2 + i),
               v3 = Dot::weight(w3 + i);
#pragma GCC unroll 8
    for (size_t r = 0; r < Rows; ++r) {
      const auto v = Dot::act(a + r * lda + i);
      acc[r][0] = Dot::mac(acc[r][0], v, v0);
      acc[r][1] = Dot::mac(acc[r][1], v, v1);
      acc[r][2] = Dot::mac(acc[r][2], v, v2);
      acc[r][3] = Dot::mac(acc[r][3], v, v3);
    }
  }
  if (i < k) {
    const size_t n = k - i;
    const auto v0 = Dot::weight_part(w0 + i, n), v1 = Dot::weight_part(w1 + i, n),
               v2 = Dot::weight_part(w2 + i, n), v3 = Dot::weight_part(w3 + i, n);
#pragma GCC unroll 8
    for (size_t r = 0; r < Rows; ++r) {
      const auto v = Dot::act(a + r * lda + i);
      acc[r][0] = Dot::mac(acc[r][0], v, v0);
      acc[r][1] = Dot::mac(acc[r][1], v, v1);
      acc[r][2] = Dot::mac(acc[r][2], v, v2);
      acc[r][3] = Dot::mac(acc[r][3], v, v3);
    }
  }
#pragma GCC unroll 8
  for (size_t r = 0; r < Rows; ++r) {
    float sums[4];
    hsum4(acc[r][0], acc[r][1], acc[r][2], acc[r][3], sums);
    float* o = out + r * ld_out;
    for (size_t j = 0; j < columns; ++j) o[j] = first ? sums[j] : o[j] + sums[j];
  }
}

/// Up to kTileRows rows by four columns, with the tile compiled for that number of rows.
template <class Dot, size_t Rows = kTileRows>
INLINE void dot_rows(size_t rows, const typename Dot::Act* a, size_t lda,
                     const typename Dot::Weight* const (&w)[4], size_t k, float* out, size_t ld_out,
                     size_t columns, bool first) {
  if (rows >= Rows)
    dot_tile<Dot, Rows>(a, lda, w, k, out, ld_out, columns, first);
  else if constexpr (Rows > 1)
    dot_rows<Dot, Rows - 1>(rows, a, lda, w, k, out, ld_out, columns, first);
}

/// The four weight rows from `column`; past `end` the last one again.
template <class T>
INLINE void four_rows(const T* base, size_t ld, size_t column, size_t end, const T* (&w)[4]) {
  for (size_t j = 0; j < 4; ++j) w[j] = base + least(column + j, end - 1) * ld;
}

/// Few rows: every group of four weight rows is read once, straight through.
template <class Dot, class ActIn>
void linear_direct(const LinearRange& g) {
  using Weight = typename Dot::Weight;
  auto* const a = static_cast<typename Dot::Act*>(g.scratch);
  const size_t lda = round_up(g.k, Dot::step);
  for (size_t r = 0; r < g.rows; ++r)
    pack_row<Dot::step>(static_cast<const ActIn*>(g.act) + r * g.k, g.k, a + r * lda);
  for (size_t column = g.column; column < g.column_end; column += 4) {
    const size_t columns = least(4, g.column_end - column);
    for (size_t block = 0; block < g.k; block += kBlock) {
      const Weight* w[4];
      four_rows(static_cast<const Weight*>(g.weight) + block, g.k, column, g.column_end, w);
      for (size_t r = 0; r < g.rows; r += kTileRows)
        dot_rows<Dot>(g.rows - r, a + r * lda + block, lda, w, least(kBlock, g.k - block),
                      g.out + r * g.ld_out + column, g.ld_out, columns, block == 0);
    }
  }
}

/// Many rows: a block of the activations and a panel of the weights are packed into scratch and reused.
template <class Dot, class ActIn, class WeightIn>
void linear_packed(const LinearRange& g) {
  using Act = typename Dot::Act;
  constexpr size_t ld = kBlock + kSkew;
  Act* const a = static_cast<Act*>(g.scratch);
  Act* const panel = a + kLinearRows * ld;
  for (size_t block = 0; block < g.k; block += kBlock) {
    const size_t k = least(kBlock, g.k - block), padded = round_up(k, Dot::step);
    for (size_t r = 0; r < g.rows; ++r)
      pack_row<Dot::step>(static_cast<const ActIn*>(g.act) + r * g.k + block, k, a + r * ld);
    for (size_t first = g.column; first < g.column_end; first += kPanelColumns) {
      const size_t n = least(kPanelColumns, g.column_end - first);
      for (size_t j = 0; j < n; ++j)
        pack_row<Dot::step>(static_cast<const WeightIn*>(g.weight) + (first + j) * g.k + block, k,
                            panel + j * ld);
      for (size_t r = 0; r < g.rows; r += kTileRows)
        for (size_t j = 0; j < n; j += 4) {
          const Act* w[4];
          four_rows<Act>(panel, ld, j, n, w);
          dot_rows<Dot>(g.rows - r, a + r * ld, ld, w, padded, g.out + r * g.ld_out + first + j, g.ld_out,
                        least(4, n - j), block == 0);
        }
    }
  }
}

template <class ActIn, class WeightIn>
void linear_float(const LinearRange& g) {
  if (g.rows < kPackRows)
    linear_direct<FloatDot<WeightIn>, ActIn>(g);
  else
    linear_packed<FloatDot<float>, ActIn, WeightIn>(g);
}

void linear(const LinearRange& g) {
  if (g.act_type == DType::bf16) {
#ifdef __AVX512BF16__
    if (g.rows < kPackRows)
      linear_direct<PairDot, bf16>(g);
    else
      linear_packed<PairDot, bf16, bf16>(g);
#else
    linear_float<bf16, bf16>(g);
#endif
    return;
  }
  switch (g.weight_type) {
    case DType::f32:
      return linear_float<float, float>(g);
    case DType::bf16:
      return linear_float<float, bf16>(g);
    case DType::f16:
      return linear_float<float, f16>(g);
  }
}

size_t linear_scratch(size_t rows, size_t k) {
  const size_t direct = least(rows, kPackRows - 1) * round_up(k, 2 * kLanes);
  const size_t packed = rows < kPackRows ? 0 : (kLinearRows + kPanelColumns) * (kBlock + kSkew);
  return round_up((direct > packed ? direct : packed) * sizeof(float), 64);
}

/// The inner loop of a product without its loads: as many chains as hide the latency of one.
template <class Dot>
size_t multiply_add_chains(size_t rounds, float* values) {
  constexpr size_t kChains = 12;
  static_assert((kChains + 2) * kLanes <= kPeakValues);
  float* const inputs = values + kChains * kLanes;
  const auto a = Dot::act(reinterpret_cast<const typename Dot::Act*>(inputs));
  const auto w = Dot::weight(reinterpret_cast<const typename Dot::Weight*>(inputs + kLanes));
  vf acc[kChains];
#pragma GCC unroll 12
  for (size_t j = 0; j < kChains; ++j) acc[j] = load(values + j * kLanes);
  for (size_t i = 0; i < rounds; ++i)
#pragma GCC unroll 12
    for (size_t j = 0; j < kChains; ++j) acc[j] = Dot::mac(acc[j], a, w);
#pragma GCC unroll 12
  for (size_t j = 0; j < kChains; ++j) store(values + j * kLanes, acc[j]);
  return rounds * kChains * Dot::step;
}

size_t multiply_adds([[maybe_unused]] DType act_type, size_t rounds, float* values) {
#ifdef __AVX512BF16__
  if (act_type == DType::bf16) return multiply_add_chains<PairDot>(rounds, values);
#endif
  return multiply_add_chains<FloatDot<float>>(rounds, values);
}
