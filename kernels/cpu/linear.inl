// The micro-kernel of all matrix products, and products with weights in panels: included after kernels.inl.
//
// An output is one chain of multiply-adds in f32 over ascending inner indices, from zero or from the result
// of an earlier call. It does not depend on which rows and columns share a tile. The right-hand side is
// stored in rows of kStep interleaved inner indices, so that one load reads a vector of columns. PAIRS is
// defined for an instruction set with products of bf16 pairs.

/// Begins to read a cache line into the second-level cache. The first-level one is small, and a CPU waits for
/// few lines at a time there: on an AMD EPYC, decoding was 15 to 30 % slower with that as the target.
INLINE void fetch(const char* line) {
  __builtin_prefetch(line, 0, 2);
}

/// One inner index per step, with f32 on the left. The right side is widened when it is loaded.
template <class RightType>
struct FloatSteps {
  using Left = float;
  using Right = RightType;
  static constexpr size_t kStep = 1;
  INLINE static vf left(const float* p) { return set1(*p); }
  INLINE static vf right(const Right* p) { return load(p); }
  INLINE static vf mac(vf acc, vf a, vf b) { return fma(a, b, acc); }
};

#ifdef PAIRS
inline constexpr bool kPairs = true;
/// Two inner indices per step: products of bf16 pairs, which the CPU adds in f32.
struct PairSteps {
  using Left = bf16;
  using Right = bf16;
  static constexpr size_t kStep = 2;
  INLINE static vleft left(const bf16* p) { return broadcast_pair(p); }
  INLINE static vpair right(const bf16* p) { return load_pairs(p); }
  /// Only the first of a pair; the second counts as zero, whatever is stored there.
  INLINE static vleft left_first(const bf16* p) { return broadcast_first(p); }
  INLINE static vpair right_first(const bf16* p) { return first_of_pairs(load_pairs(p)); }
  INLINE static vf mac(vf acc, vleft a, vpair b) { return pair_dot(acc, a, b); }
};
#else
inline constexpr bool kPairs = false;
#endif

/// The steps of a number of vectors of columns that fill a cache line together: one, if one does.
template <class Steps>
constexpr size_t fetch_steps(size_t vectors) {
  const size_t bytes = vectors * kLanes * Steps::kStep * sizeof(typename Steps::Right);
  return bytes < 64 ? 64 / bytes : 1;
}

/// Where the sums of a tile begin, and what is stored.
enum class Sums {
  store,     // from zero
  resume,    // from the stored value, which continues the chain of an earlier call
  add_block  // from zero, and then added to the stored value
};

/// c[r, :] = a[r, :] . b for Rows rows, Vectors * kLanes columns and k inner indices, in the way of `sums`.
/// With an odd k the second of the last pair is not used. The steps of b are ldb elements apart. Every
/// fetch_steps() of them also fetch Lines cache lines from `ahead` on into the second-level cache.
template <class Steps, size_t Rows, size_t Vectors, size_t Lines>
void outer_tile(const typename Steps::Left* a, size_t lda, const typename Steps::Right* b, size_t ldb,
                size_t k, float* c, size_t ldc, Sums sums, [[maybe_unused]] const char* ahead) {
  constexpr size_t step = Steps::kStep;
  vf acc[Rows][Vectors];
#pragma GCC unroll 8
  for (size_t r = 0; r < Rows; ++r)
#pragma GCC unroll 4
    for (size_t v = 0; v < Vectors; ++v)
      acc[r][v] = sums == Sums::resume ? load(c + r * ldc + v * kLanes) : zero();
  size_t i = 0;
  for (; i + step <= k; i += step, b += ldb) {
    if (Lines > 0 && i / step % fetch_steps<Steps>(Vectors) == 0) {
#pragma GCC unroll 4
      for (size_t line = 0; line < Lines; ++line) fetch(ahead + line * 64);
      ahead += Lines * 64;
    }
    decltype(Steps::right(b)) row[Vectors];
#pragma GCC unroll 4
    for (size_t v = 0; v < Vectors; ++v) row[v] = Steps::right(b + v * kLanes * step);
#pragma GCC unroll 8
    for (size_t r = 0; r < Rows; ++r) {
      const auto x = Steps::left(a + r * lda + i);
#pragma GCC unroll 4
      for (size_t v = 0; v < Vectors; ++v) acc[r][v] = Steps::mac(acc[r][v], x, row[v]);
    }
  }
  if constexpr (step == 2)
    if (i < k)
#pragma GCC unroll 4
      for (size_t v = 0; v < Vectors; ++v) {
        const auto last = Steps::right_first(b + v * kLanes * step);
#pragma GCC unroll 8
        for (size_t r = 0; r < Rows; ++r)
          acc[r][v] = Steps::mac(acc[r][v], Steps::left_first(a + r * lda + i), last);
      }
  if (sums == Sums::add_block) {
#pragma GCC unroll 8
    for (size_t r = 0; r < Rows; ++r)
#pragma GCC unroll 4
      for (size_t v = 0; v < Vectors; ++v) acc[r][v] = add(load(c + r * ldc + v * kLanes), acc[r][v]);
  }
#pragma GCC unroll 8
  for (size_t r = 0; r < Rows; ++r)
#pragma GCC unroll 4
    for (size_t v = 0; v < Vectors; ++v) store(c + r * ldc + v * kLanes, acc[r][v]);
}

/// outer_tile() for `rows` rows, but for Rows rows if there are more.
template <class Steps, size_t Rows, size_t Vectors, size_t Lines = 0>
INLINE void outer_rows(size_t rows, const typename Steps::Left* a, size_t lda, const typename Steps::Right* b,
                       size_t ldb, size_t k, float* c, size_t ldc, Sums sums, const char* ahead = nullptr) {
  if (rows >= Rows)
    outer_tile<Steps, Rows, Vectors, Lines>(a, lda, b, ldb, k, c, ldc, sums, ahead);
  else if constexpr (Rows > 1)
    outer_rows<Steps, Rows - 1, Vectors, Lines>(rows, a, lda, b, ldb, k, c, ldc, sums, ahead);
}

// Matrix product with weights in panels.
//
// A panel has kPanelOutputs outputs: for each step of inputs, the weights of all these outputs. An output is
// computed in blocks of inputs, in ascending order: in each block a chain of multiply-adds from zero, and the
// sums of blocks are added in f32. That order depends only on K. A block of a panel is read from memory once,
// and all rows, a few at a time, use it from the cache.
//
// A simd_*.hpp header says by kFetchesAlone whether a single group of rows fetches what it reads. A Zen 4
// with AVX-512 notices by itself that a panel is read from beginning to end; a Zen 3 with AVX2 multiplied one
// row 1.2 and four rows 1.4 times as fast with fetches, and a Xeon with AVX-512 one 1.35 times.

inline constexpr size_t kPanelOutputs = kPanelVectors * kLanes;
/// Inputs in a block: few enough to limit the rounding error of a chain and to fit the second-level cache.
inline constexpr size_t kPairBlock = 512, kFloatBlock = 256;
/// With two groups of rows up to this number, the time for a block is that of reading it from memory. Then it
/// is taken in chunks that fit the first-level cache; each chunk is fetched while the rows use the one before
/// it.
inline constexpr size_t kChunkGroups = 4, kChunkBytes = 16384;
/// Few rows read a panel from beginning to end, and fetch what they need so many bytes later. On AMD EPYCs
/// more or less than 2 to 4 KiB was slower.
inline constexpr size_t kReadAhead = 3072;

#ifndef TILES
/// A multiple of the rows of every tile.
inline constexpr size_t kTileHeights = 6;
/// Rows are read as they lie.
bool arranges(size_t, size_t) {
  return false;
}
void arrange(const bf16*, size_t, size_t, size_t, bf16*) {}
#endif

/// Where the results of a panel are written.
struct PanelSums {
  float* data;
  size_t ld;
};

/// Inputs [0, n) of a panel, for rows in groups of nearly equal size. Meanwhile the first groups fetch the
/// memory from `ahead` to `end`, Lines cache lines in fetch_steps().
template <class Steps, size_t Lines>
void multiply_groups(const LinearRange& g, const typename Steps::Left* a, const typename Steps::Right* w,
                     size_t n, PanelSums to, Sums sums, const char* ahead, const char* end) {
  constexpr size_t ldb = kPanelOutputs * Steps::kStep;
  const size_t steps = (n + Steps::kStep - 1) / Steps::kStep;
  size_t groups = (g.rows + kPanelRows - 1) / kPanelRows;
  for (size_t r = 0, rows; r < g.rows; r += rows, --groups) {
    rows = (g.rows - r + groups - 1) / groups;
    float* const c = to.data + r * to.ld;
    if (ahead < end)
      outer_rows<Steps, kPanelRows, kPanelVectors, Lines>(rows, a + r * g.k, g.k, w, ldb, n, c, to.ld, sums,
                                                          ahead);
    else
      outer_rows<Steps, kPanelRows, kPanelVectors>(rows, a + r * g.k, g.k, w, ldb, n, c, to.ld, sums);
    ahead += steps / fetch_steps<Steps>(kPanelVectors) * Lines * 64;
  }
}

/// As multiply_groups(), with the memory that follows as what is fetched.
template <class Steps, size_t Lines>
void panel_groups(const LinearRange& g, const typename Steps::Left* a, const typename Steps::Right* w,
                  size_t n, PanelSums to, Sums sums) {
  const size_t size = (n + Steps::kStep - 1) / Steps::kStep * kPanelOutputs * Steps::kStep;
  multiply_groups<Steps, Lines>(g, a, w, n, to, sums, reinterpret_cast<const char*>(w + size),
                                reinterpret_cast<const char*>(w + 2 * size));
}

/// A block of a panel whose elements are widened once for many rows. kWidensOnce says where that is faster
/// than widening with each load: Intel's CPUs have two units for vectors of 512 bits, which multiply-adds
/// fill.
template <class Steps, size_t Lines>
void widened_groups(const LinearRange& g, const float* a, const typename Steps::Right* w, size_t k,
                    PanelSums to, Sums sums) {
  alignas(64) float wide[kFloatBlock * kPanelOutputs];
  widen_typed(w, k * kPanelOutputs, wide);
  const auto* const ahead = reinterpret_cast<const char*>(w + k * kPanelOutputs);
  multiply_groups<FloatSteps<float>, Lines>(g, a, wide, k, to, sums, ahead,
                                            ahead + k * kPanelOutputs * sizeof *w);
}

/// One block of a panel for all rows.
template <class Steps>
void panel_block(const LinearRange& g, const typename Steps::Left* a, const typename Steps::Right* w,
                 size_t k, PanelSums to, Sums sums) {
  constexpr size_t step_bytes = kPanelOutputs * Steps::kStep * sizeof(*w),
                   lines = step_bytes * fetch_steps<Steps>(kPanelVectors) / 64;
  const size_t groups = (g.rows + kPanelRows - 1) / kPanelRows;
  if (groups == 1) {
    constexpr size_t alone = kFetchesAlone ? lines : 0;
    return outer_rows<Steps, kPanelRows, kPanelVectors, alone>(
        g.rows, a, g.k, w, kPanelOutputs * Steps::kStep, k, to.data, to.ld, sums,
        reinterpret_cast<const char*>(w) + kReadAhead);
  }
  if (groups > kChunkGroups) {
    if constexpr (kWidensOnce && Steps::kStep == 1 && sizeof *w < sizeof(float))
      return widened_groups<Steps, (lines + 3) / 4>(g, a, w, k, to, sums);
    else
      return panel_groups<Steps, (lines + 3) / 4>(g, a, w, k, to, sums);
  }
  constexpr size_t chunk = kChunkBytes / step_bytes * Steps::kStep;
  const auto run =
      groups < kChunkGroups ? panel_groups<Steps, (lines + 1) / 2> : panel_groups<Steps, (lines + 3) / 4>;
  alignas(64) float own[kChunkGroups * kPanelRows * kPanelOutputs];
  for (size_t i = 0; i < k; i += chunk, w += chunk * kPanelOutputs)
    run(g, a + i, w, least(chunk, k - i), {own, kPanelOutputs}, i == 0 ? Sums::store : Sums::resume);
  for (size_t r = 0; r < g.rows; ++r)
    for (size_t j = 0; j < kPanelOutputs; j += kLanes) {
      float* const out = to.data + r * to.ld + j;
      const vf sum = load(own + r * kPanelOutputs + j);
      store(out, sums == Sums::store ? sum : add(load(out), sum));
    }
}

/// One panel. The last panel may have fewer outputs, which are computed in a buffer.
template <class Steps>
void linear_panel(const LinearRange& g, const typename Steps::Right* w, float* out, size_t outputs) {
  constexpr size_t size = Steps::kStep == 2 ? kPairBlock : kFloatBlock;
  alignas(64) float last[kLinearRows * kPanelOutputs];
  const bool whole = outputs == kPanelOutputs;
  const PanelSums to = whole ? PanelSums{out, g.ld_out} : PanelSums{last, kPanelOutputs};
  for (size_t i = 0; i < g.k; i += size)
    panel_block<Steps>(g, static_cast<const typename Steps::Left*>(g.act) + i, w + i * kPanelOutputs,
                       least(size, g.k - i), to, i == 0 ? Sums::store : Sums::add_block);
  if (whole) return;
  for (size_t r = 0; r < g.rows; ++r)
    __builtin_memcpy(out + r * g.ld_out, last + r * kPanelOutputs, outputs * sizeof(float));
}

template <class Steps>
void linear_typed(const LinearRange& g) {
  const auto* const panels = static_cast<const typename Steps::Right*>(g.panels);
  for (size_t column = 0; column < g.outputs; column += kPanelOutputs)
    linear_panel<Steps>(g, panels + column * round_up(g.k, Steps::kStep), g.out + column,
                        least(kPanelOutputs, g.outputs - column));
}

/// The same value, of which a compiler knows nothing. Where a multiply-add is two instructions, it would
/// otherwise multiply once for all chains.
template <class Vector>
INLINE Vector unknown(Vector value) {
  __asm__("" : VECTOR_OPERAND(value));
  return value;
}

/// The inner loop of a product without its loads, with the chains of a tile, which hide the latency of each.
template <class Steps>
size_t multiply_add_chains(size_t rounds, float* values) {
  constexpr size_t kChains = kPanelRows * kPanelVectors;
  static_assert((kChains + 2) * kLanes <= kPeakValues);
  float* const inputs = values + kChains * kLanes;
  auto a = Steps::left(reinterpret_cast<const typename Steps::Left*>(inputs));
  const auto w = Steps::right(reinterpret_cast<const typename Steps::Right*>(inputs + kLanes));
  vf acc[kChains];
#pragma GCC unroll 24
  for (size_t j = 0; j < kChains; ++j) acc[j] = load(values + j * kLanes);
  for (size_t i = 0; i < rounds; ++i) {
#pragma GCC unroll 24
    for (size_t j = 0; j < kChains; ++j) {
      a = unknown(a);
      acc[j] = Steps::mac(acc[j], a, w);
    }
  }
#pragma GCC unroll 24
  for (size_t j = 0; j < kChains; ++j) store(values + j * kLanes, acc[j]);
  return rounds * kChains * kLanes * Steps::kStep;
}
